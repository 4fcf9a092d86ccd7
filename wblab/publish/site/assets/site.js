// What a link leads to is shown, also where it is folded.
const unfold = () => {
  const found = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let at = found; at; at = at.parentElement) if (at.localName === "details") at.open = true;
  found?.scrollIntoView();
};
addEventListener("hashchange", unfold);
if (location.hash) unfold();

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
