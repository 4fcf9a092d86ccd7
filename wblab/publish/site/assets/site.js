// A button beside each line to copy. Without scripts there is none, and the line can be selected.
for (const button of document.querySelectorAll("button.copy")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(button.dataset.line);
      button.textContent = "Copied";
    } catch {  // not allowed here, as in some browsers for file://
      getSelection().selectAllChildren(button.previousElementSibling);
      button.textContent = "Selected";
    }
  });
}
