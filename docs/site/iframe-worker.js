// A browser runs no worker in a page that is opened as a file, and the theme searches in one. This runs it in a hidden frame instead, so
// that search works in an unpacked archive. The theme's offline plugin would load such a script from another host.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.scope = frame.contentWindow;
      this.scope.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = frame.contentDocument.createElement("script");
      this.loaded = new Promise((resolve) => script.addEventListener("load", resolve));
      script.src = url;
      frame.contentDocument.body.append(script);
    }

    async postMessage(data) {
      await this.loaded;
      this.scope.dispatchEvent(new MessageEvent("message", { data }));
    }
  };
}
