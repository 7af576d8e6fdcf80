/* SPDX-License-Identifier: MIT
 *
 * Browsers refuse web workers in pages opened from a folder (file://). The search of the site runs in one. Here the
 * worker's script runs in a hidden frame instead, behind the same interface. Pages from a server keep real workers. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      const waiting = []
      this.postMessage = data => waiting.push(data)
      this.terminate = () => frame.remove()
      frame.addEventListener("load", () => {
        const inside = frame.contentWindow
        inside.postMessage = data => {
          const event = new MessageEvent("message", { data })
          this.dispatchEvent(event)
          if (this.onmessage) this.onmessage(event)
        }
        inside.importScripts = (...urls) => urls.reduce(
          (before, source) => before.then(() => new Promise((done, failed) => {
            const script = inside.document.createElement("script")
            Object.assign(script, { src: source, onload: done, onerror: failed })
            inside.document.body.append(script)
          })), Promise.resolve())
        const script = inside.document.createElement("script")
        script.src = url
        script.onload = () => {
          this.postMessage = data => inside.dispatchEvent(new inside.MessageEvent("message", { data }))
          waiting.forEach(data => this.postMessage(data))
        }
        inside.document.body.append(script)
      })
      frame.srcdoc = "<!doctype html><body></body>"
      document.body ? document.body.append(frame) : addEventListener("DOMContentLoaded", () => document.body.append(frame))
    }
  }
}
