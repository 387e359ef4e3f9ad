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
  const keep = CM.EditorView.updateListener.of((update) => {
    if (update.docChanged) sessionStorage.setItem(key, update.state.doc.toString());
  });
  const name = { "aria-label": "Your question in SQL", "aria-describedby": "ask-keys", spellcheck: "false" };
  view.dispatch({
    effects: CM.StateEffect.appendConfig.of([
      CM.EditorState.languageData.of(() => [{ autocomplete: complete }]),
      CM.EditorView.contentAttributes.of(name),
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
  };
  view.focus();
})();
