// Opens a trace in Perfetto's viewer, which takes it by message (https://perfetto.dev/docs/visualization/deep-linking-to-perfetto-ui).
// A page from file:// cannot read the trace: there the button stays disabled, and the words beside it say what to do.
const VIEWER = "https://ui.perfetto.dev";

function hand(viewer, message) {
  const asking = setInterval(() => viewer.postMessage("PING", VIEWER), 100);
  addEventListener("message", function answered(event) {
    if (event.source !== viewer || event.origin !== VIEWER || event.data !== "PONG") return;
    clearInterval(asking);
    removeEventListener("message", answered);
    viewer.postMessage(message, VIEWER);
  });
}

for (const button of document.querySelectorAll("button.perfetto")) {
  button.disabled = !location.protocol.startsWith("http");
  button.addEventListener("click", async () => {
    const viewer = open(VIEWER);  // before anything is awaited, or browsers take it for an advertisement
    const buffer = await (await fetch(button.dataset.trace)).arrayBuffer();
    hand(viewer, { perfetto: { buffer, title: button.dataset.title } });
  });
}
