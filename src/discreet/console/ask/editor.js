// What the editor of a question has beyond NiceGUI's: names to complete, a name for screen readers, a Tab key that
// leaves it, colours that follow the page, and a draft that outlives a lost connection.
(async () => {
  const CM = await import("nicegui-codemirror");
  const { id, names, member } = SETTINGS;
  const element = getElement(id);
  const view = await element.editorPromise;
  const key = `discreet-draft:${member}`;

  const whole = new Set(names.map((name) => name.label.toLowerCase()));

  const complete = (context) => {
    const word = context.matchBefore(/[\p{L}\w]+/u);
    if (!context.explicit && (!word || whole.has(word.text.toLowerCase()))) return null;
    return { from: word ? word.from : context.pos, options: names, validFor: /^[\p{L}\w]*$/u };
  };
  // Enter takes an offered name only where somebody asked for it, or began to write it: it never rewrites a whole word.
  let isAskedFor = false;
  const isWanted = (view, offered) => {
    const { head } = view.state.selection.main;
    const line = view.state.doc.lineAt(head);
    const word = line.text.slice(0, head - line.from).match(/[\p{L}\w]*$/u)[0].toLowerCase();
    return isAskedFor || (word.length > 1 && whole.has(offered) && offered.replace(/^"/, "").startsWith(word));
  };
  const taking = CM.EditorView.domEventHandlers({
    keydown: (event, view) => {
      const offered = view.dom.querySelector(".cm-tooltip-autocomplete [aria-selected] .cm-completionLabel");
      if (event.code === "Space" && (event.ctrlKey || event.metaKey)) isAskedFor = true;
      if (offered && ["ArrowDown", "ArrowUp"].includes(event.key)) isAskedFor = true;
      if (event.key !== "Enter" || !offered) return false;
      if (event.ctrlKey || event.metaKey) {
        view.contentDOM.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));  // offers no more
        return false;
      }
      return !isWanted(view, offered.textContent.toLowerCase()) && CM.insertNewlineAndIndent(view);
    },
  });
  const keep = CM.EditorView.updateListener.of((update) => {
    if (!update.docChanged) return;
    isAskedFor = false;
    sessionStorage.setItem(key, update.state.doc.toString());
  });
  const name = { "aria-label": "Your question in SQL", "aria-describedby": "ask-keys", spellcheck: "false" };
  view.dispatch({
    effects: CM.StateEffect.appendConfig.of([
      CM.EditorState.languageData.of(() => [{ autocomplete: complete }]),
      CM.EditorView.contentAttributes.of(name),
      CM.Prec.highest(taking),
      keep,
    ]),
  });
  view.setTabFocusMode(true);

  const shade = () => element.setTheme(document.body.classList.contains("body--dark") ? "githubDark" : "githubLight");
  shade();
  new MutationObserver(shade).observe(document.body, { attributeFilter: ["class"] });

  for (const other of Object.keys(sessionStorage))
    if (other.startsWith("discreet-draft") && other !== key) sessionStorage.removeItem(other);
  const draft = sessionStorage.getItem(key);
  if (draft && view.state.doc.length === 0) view.dispatch({ changes: { from: 0, insert: draft } });

  window.discreetInsert = (text) => {
    view.dispatch(view.state.replaceSelection(text));
    view.focus();
    view.dom.parentElement.scrollIntoView({ block: "nearest" });
  };
  view.focus();
})();
