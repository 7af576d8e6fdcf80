#!/bin/bash
# SPDX-License-Identifier: MIT
#
# report.html of an experiment and of a run in a real browser, headless: no word on the console, nothing loaded, no page wider
# than the screen, text that can be read in light and dark, figures and charts that are drawn, a page that prints. SHOTS=dir keeps
# the screenshots.
for browser in chromium chromium-browser google-chrome; do
    command -v $browser >/dev/null && break
done
if ! command -v "$browser" >/dev/null; then
    echo "SKIPPED: no chromium; scripts/install-deps browser installs it"
    exit 77
fi
here=$(cd "$(dirname "$0")" && pwd)
SHOTS=${SHOTS:+$(mkdir -p "$SHOTS" && cd "$SHOTS" && pwd)}
. "$here/../cli/lib.bash"

# browse WIDTH light|dark ARGS... URL
browse() {
    local width=$1 scheme=1
    [ "$2" = dark ] && scheme=0
    shift 2
    HOME=$work timeout 60 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --no-first-run \
        --user-data-dir="$work/profile" --enable-logging=stderr --blink-settings=preferredColorScheme=$scheme \
        --window-size="$width",900 "$@" 2>console
}

# ---- a report with everything in it: a leak, a job that diverged, long names, wide tables, figures
name="a method with quite a long name <b>&amp;</b>"
cat >all.yaml <<YAML
name: everything <at> once & "more"
data: {name: crescents, rows: 100, noise: 0.3, val: 0}
net: {hidden: [8]}
train: {epochs: 10, batch: 16}
methods:
  - {name: SP, param: sp, lr: 0.01}
  - {name: diverges, param: sp, lr: 1e30}
  - {name: "$name", param: wn, lr: 0.01}
  - {name: "averyveryverylongwordthatdoesnotbreakanywhereatall", param: gmp, lr: 0.1}
protocol: reference
seeds: 12
YAML
drawn=2
if command -v gnuplot >/dev/null; then
    drawn=7
    echo 'record: {boundaries: every}' >>all.yaml
    echo 'figures: [animation, moves, decision, convergence, regions]' >>all.yaml
else
    echo "no gnuplot: only figures made by hand"
fi
run 0 run all.yaml --out r
mkdir -p r/figures
figure() {
    printf '<svg width="%s" height="%s" viewBox="0 0 %s %s" xmlns="http://www.w3.org/2000/svg">' "$2" "$3" "$2" "$3"
    printf '<rect width="%s" height="%s" fill="#fff"/><defs><circle id="c" r="9"/></defs>' "$2" "$3"
    printf '<g fill="%s"><use href="#c" x="%s" y="%s"/></g><text x="9" y="20">%s</text></svg>\n' "$4" $(($2 / 2)) $(($3 / 2)) "$1"
}
figure wide 1600 400 "#0072b2" >r/figures/trajectories.svg
figure small 300 200 "#d55e00" >r/figures/turns.svg
run 0 run all.yaml --out r --resume

# ---- as it is: the page's own policy lets nothing through, and nothing asks
browse 1280 light --dump-dom "file://$work/r/report.html" >dom
check "the browser gave no page" grep -q "<h1>everything" dom
check "the console is not empty: $(grep CONSOLE console | head -3)" [ "$(grep -c CONSOLE console)" -eq 0 ]
check "a figure is missing" [ "$(grep -o 'data:image/svg' dom | wc -l)" -eq $drawn ]

# ---- a run: its charts, drawn by the page's one script under the page's own policy
run 0 train --data crescents --rows 200 --epochs 12 --quiet --out run
charts=$(grep -c '<figure class="chart">' run/report.html)
browse 1280 light --virtual-time-budget=3000 --dump-dom "file://$work/run/report.html" >dom
check "the console is not empty: $(grep CONSOLE console | head -3)" [ "$(grep -c CONSOLE console)" -eq 0 ]
if [ "$charts" -gt 0 ] || [ -e "$(dirname "$SPHERELU")/uplot/version" ]; then
    check "a run has two charts, found $charts" [ "$charts" -eq 2 ]
    check "not all charts are drawn" [ "$(grep -o '<canvas' dom | wc -l)" -eq 2 ]
else
    skipped "built without uPlot: no charts; scripts/install-deps charts"
fi

# ---- a reader's mouse: hover shows values, a name hides its curve, dragging zooms, a double click shows all again
grep -v 'http-equiv="Content-Security-Policy"' run/report.html | sed '/<\/body>/d; /<\/html>/d' >run/mouse.html
cat >>run/mouse.html <<'HTML'
<script>
addEventListener("load", () => setTimeout(() => {
const plot = document.querySelector(".uplot"), over = plot.querySelector(".u-over"), box = over.getBoundingClientRect();
const at = (type, share) => {
  for (const target of type === "mouseup" ? [document] : [over])
    target.dispatchEvent(new MouseEvent(type, { bubbles: true, clientX: box.left + share * box.width, clientY: box.top + box.height / 2, movementX: 1, button: 0 }));
};
const epoch = () => plot.querySelector(".u-legend .u-value").textContent;
const wait = () => new Promise(done => setTimeout(done, 60));
(async () => {
  const seen = [];
  at("mouseenter", 0.9); at("mousemove", 0.99); await wait(); seen.push(epoch());
  const name = plot.querySelectorAll(".u-legend .u-series")[1];
  name.querySelector("th").click(); await wait(); seen.push(name.classList.contains("u-off"));
  name.querySelector("th").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" })); await wait(); seen.push(name.classList.contains("u-off"));
  at("mousemove", 0.2); at("mousedown", 0.2); at("mousemove", 0.5); await wait(); at("mouseup", 0.5); await wait();
  at("mousemove", 0.99); await wait(); seen.push(Number(epoch()) < 9);
  at("dblclick", 0.5); await wait(); at("mousemove", 0.98); await wait(); seen.push(epoch());
  document.title = JSON.stringify(seen);
})();
}, 50));
</script>
HTML
if [ "$charts" -gt 0 ]; then
    browse 1280 light --virtual-time-budget=5000 --dump-dom "file://$work/run/mouse.html" >dom
    seen=$(sed -n 's/.*<title>\(.*\)<\/title>.*/\1/p' dom)
    check "hover, hide, show, zoom, all again: $seen" [ "$seen" = '["12",true,false,true,"12"]' ]
fi

# ---- measured from within: a copy without the policy, with a script that writes what it sees
for page in r run; do
grep -v 'http-equiv="Content-Security-Policy"' $page/report.html | sed '/<\/body>/d; /<\/html>/d' >$page/probe.html
cat >>$page/probe.html <<'HTML'
<script>
addEventListener("load", () => {
const number = s => s.match(/[\d.]+/g).map(Number);
const light = ([r, g, b]) => {
  const f = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b);
};
const ground = e => {
  for (; e; e = e.parentElement) {
    const c = number(getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] > 0.99) return c;
  }
  return [255, 255, 255];
};
for (const d of document.querySelectorAll("details")) d.open = true;
let worst = 99, where = "", wide = [], flat = 0;
for (const e of document.querySelectorAll("body *")) {
  const own = [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
  if (own && e.tagName !== "SCRIPT") {
    const a = light(number(getComputedStyle(e).color)), b = light(ground(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < worst) { worst = ratio; where = e.tagName + "." + e.className; }
  }
  const inside = e.closest(".scroll, pre, .picture:has(.wide)"); // boxes that scroll
  if (e.getBoundingClientRect().right > innerWidth + 0.5 && (!inside || inside === e)) wide.push(e.tagName + "." + e.className);
}
for (const s of document.querySelectorAll("img:not(img + img)")) { // an animation hides its last picture
  const box = s.getBoundingClientRect();
  if (!(box.width > 50) || !s.alt || !(Math.abs(box.width / box.height - s.naturalWidth / s.naturalHeight) < 0.02)) flat++;
}
parent.postMessage(JSON.stringify({
  width: innerWidth, over: document.documentElement.scrollWidth - innerWidth, wide, flat, contrast: worst >= 4.5 ? "good" : worst.toFixed(2) + " " + where,
  ground: light(ground(document.body)) > 0.5 ? "light" : "dark", loaded: performance.getEntriesByType("resource").length,
}), "*");
});
</script>
HTML
# A window has at least 500 px, a frame in it as few as a phone.
cat >$page/frame.html <<'HTML'
<!DOCTYPE html><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>nothing</title>
<script>
onmessage = e => document.title = e.data;
const frame = document.createElement("iframe");
frame.src = "probe.html"; frame.width = location.hash.slice(1); frame.height = 800; frame.style.border = 0;
document.documentElement.append(frame);
</script>
HTML
for width in 1280 390 320; do
    for scheme in light dark; do
        browse 1400 $scheme --virtual-time-budget=5000 --dump-dom "file://$work/$page/frame.html#$width" >dom
        seen=$(sed -n 's/.*<title>\(.*\)<\/title>.*/\1/p' dom)
        expected='{"width":'$width',"over":0,"wide":[],"flat":0,"contrast":"good","ground":"'$scheme'","loaded":0}'
        check "$page, $width px, $scheme: $seen" [ "$seen" = "$expected" ]
    done
done
done

# ---- pictures, and paper
for page in r run; do
    for width in 1400 390; do
        for scheme in light dark; do
            shot=$page-$width-$scheme.png
            browse $width $scheme --virtual-time-budget=3000 --screenshot="$work/$shot" --window-size=$width,3000 "file://$work/$page/report.html"
            check "no screenshot: $shot" [ "$(stat -c %s $shot 2>/dev/null || echo 0)" -gt 20000 ]
            [ -z "$SHOTS" ] || cp "$work/$shot" "$SHOTS"
        done
        check "light and dark look the same: $page, $width px" [ "$(cmp -s $page-$width-light.png $page-$width-dark.png && echo same)" != same ]
    done
done
browse 1280 light --print-to-pdf="$work/page.pdf" "file://$work/r/report.html"
check "it does not print" [ "$(head -c 5 page.pdf)" = %PDF- ]
[ -z "$SHOTS" ] || cp page.pdf "$SHOTS"

finish
