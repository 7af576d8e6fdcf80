// SPDX-License-Identifier: MIT
//
// The charts of a page, drawn by uPlot from the JSON beside each: hover shows values, dragging zooms, a double click shows all
// again, a click on a name hides its curve. Colours follow the page, light or dark.
(() => {
  "use strict";
  const light = ["#0072b2", "#d55e00", "#007a58", "#b0508a", "#8c6d00", "#2f7fb5"];
  const dark = ["#56b4e9", "#f0803c", "#2fc79b", "#e39ac4", "#d8b93f", "#a5d8f5"];
  const dashes = [[], [7, 3], [2, 3], [9, 3, 2, 3], [4, 2], [1, 2]];
  const font = "12px system-ui, sans-serif";
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const short = value => value == null ? "" : Math.abs(value) >= 1e9 ? value.toExponential(3) : String(Number(value.toPrecision(5)));

  // 0.0001 to 100,000,000 in full, others as 1.5·10⁹.
  const raised = power => String(power).replace(/[-0-9]/g, c => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]);
  const number = value => {
    const size = Math.abs(value), power = Math.floor(Math.log10(size) + 1e-9), front = Number((value / 10 ** power).toPrecision(4));
    if (!size || (size >= 1e-4 && size < 1e8)) return value.toLocaleString("en", { maximumFractionDigits: 8 });
    return (front === 1 ? "" : front === -1 ? "−" : front + "·") + "10" + raised(power);
  };
  const extent = values => values.reduce(([low, high], v) => v == null ? [low, high] : [Math.min(low, v), Math.max(high, v)], [Infinity, -Infinity]);

  // Points are given in any order; uPlot wants them by x.
  const aligned = series => uPlot.join(series.map(({ x, y }) => {
    const order = x.map((_, i) => i).filter(i => x[i] != null).sort((a, b) => x[a] - x[b]);
    return [order.map(i => x[i]), order.map(i => y[i])];
  }));

  // One cloud may have several points over one x, which a join would lose.
  const cloud = ({ x, y }) => {
    const order = x.map((_, i) => i).filter(i => x[i] != null && y[i] != null).sort((a, b) => x[a] - x[b]);
    return [order.map(i => x[i]), order.map(i => y[i])];
  };

  // On axes of one scale both show all of both; a zoom shows what was chosen.
  const same = (data, axis) => {
    const own = extent(data[axis]), [low, high] = extent(data.flat()), margin = 0.04 * (high - low || 1);
    return (_, from, to) => from <= own[0] && to >= own[1] ? [low - margin, high + margin] : [from, to];
  };

  const line = (u, x0, y0, x1, y1) => {
    const { ctx } = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
    ctx.clip();
    ctx.strokeStyle = colour("--quiet");
    ctx.lineWidth = 1.5 * uPlot.pxRatio;
    ctx.setLineDash([4 * uPlot.pxRatio, 3 * uPlot.pxRatio]);
    ctx.beginPath();
    ctx.moveTo(x0, y0);
    ctx.lineTo(x1, y1);
    ctx.stroke();
    ctx.restore();
  };

  const marks = chart => u => {
    const at = (value, scale) => u.valToPos(value, scale, true);
    if (chart.diagonal) {
      const low = Math.min(u.scales.x.min, u.scales.y.min), high = Math.max(u.scales.x.max, u.scales.y.max);
      line(u, at(low, "x"), at(low, "y"), at(high, "x"), at(high, "y"));
    }
    if (chart.mark == null || chart.mark < u.scales.x.min || chart.mark > u.scales.x.max) return;
    const x = at(chart.mark, "x"), { ctx, bbox } = u, right = x > bbox.left + bbox.width / 2, gap = 6 * uPlot.pxRatio;
    line(u, x, bbox.top, x, bbox.top + bbox.height);
    ctx.save();
    ctx.font = font.replace("12px", 12 * uPlot.pxRatio + "px");
    ctx.fillStyle = colour("--quiet");
    ctx.textAlign = right ? "right" : "left";
    ctx.fillText(chart.marked, right ? x - gap : x + gap, bbox.top + 14 * uPlot.pxRatio);
    ctx.restore();
  };

  // Room for the longest number beside the y axis, so that the axis label does not cover it.
  const pen = document.createElement("canvas").getContext("2d");
  const beside = (_, values) => {
    pen.font = font;
    return 18 + Math.ceil(Math.max(20, ...(values || []).map(v => v == null ? 0 : pen.measureText(v).width)));
  };

  const size = place => ({ width: place.clientWidth, height: Math.round(Math.max(240, Math.min(400, 0.62 * place.clientWidth))) });

  const draw = (place, chart) => {
    const colours = scheme.matches ? dark : light, dots = chart.series.length === 1 && chart.series[0].dots;
    const data = dots ? cloud(chart.series[0]) : aligned(chart.series);
    const [low, high] = extent(data.slice(1).flat());
    const logarithmic = chart.log && low > 0 && high / low > 20;
    const around = (_, from, to) => [from / 1.2, to * 1.2];
    const powers = (_, tics) => tics.map(tic => Math.abs(Math.log10(tic) - Math.round(Math.log10(tic))) < 1e-9 ? tic : null);
    const axis = (label, width, filter) => ({
      label, font, labelFont: font, size: width, labelSize: 20, stroke: colour("--ink"),
      values: (_, tics) => tics.map(tic => tic == null ? "" : number(tic)),
      grid: { stroke: colour("--line"), width: 1, ...filter }, ticks: { stroke: colour("--line"), width: 1 },
    });
    const series = (s, i) => ({
      label: s.name || chart.y, stroke: colours[i % colours.length], width: 2, dash: dashes[i % dashes.length],
      value: (_, v) => short(v),
      points: s.dots ? { show: true, size: s.x.length < 60 ? 8 : 5, fill: colours[i % colours.length] } : { show: s.x.length < 2, size: 8, fill: colours[i % colours.length] },
      ...(s.dots ? { paths: () => null } : {}),
    });
    const whole = data[0].every(Number.isInteger) ? { incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 1e5, 1e6] } : {};
    const plot = new uPlot({
      ...size(place),
      scales: {
        x: { time: false, ...(chart.diagonal ? { range: same(data, 0) } : {}) },
        y: logarithmic ? { distr: 3, range: around } : chart.diagonal ? { range: same(data, 1) } : {},
      },
      axes: [{ ...axis(chart.x, 36), ...whole }, axis(chart.y, beside, logarithmic ? { filter: powers } : {})],
      series: [{ label: chart.x, value: (_, v) => short(v) }, ...chart.series.map(series)],
      cursor: { drag: { x: true, y: dots, uni: 30 } },
      hooks: { draw: [marks(chart)] },
    }, data, place);
    for (const name of place.querySelectorAll(".u-legend .u-series:not(:first-child) th")) {
      name.tabIndex = 0;
      name.title = "show or hide";
      name.addEventListener("keydown", e => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); name.click(); } });
    }
    return plot;
  };

  for (const figure of document.querySelectorAll("figure.chart")) {
    const place = figure.querySelector(".plot"), chart = JSON.parse(figure.querySelector("script").textContent);
    let plot = draw(place, chart);
    new ResizeObserver(() => { if (place.clientWidth !== plot.width) plot.setSize(size(place)); }).observe(place);
    scheme.addEventListener("change", () => { plot.destroy(); plot = draw(place, chart); });
  }
})();
