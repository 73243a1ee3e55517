
  // Lines to copy.
  all(".copy").forEach((button) => {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const code = button.parentNode.querySelector("code");
      const name = button.textContent;
      let done = true;
      try {
        await navigator.clipboard.writeText(code.textContent);
      } catch {
        getSelection().selectAllChildren(code);
        done = document.execCommand("copy");
      }
      button.textContent = done ? "Copied" : "Press Ctrl-C";
      setTimeout(() => { button.textContent = name; }, 1600);
    });
  });
