  // Filters of the whole page.
  const form = document.getElementById("filters");
  const said = form.querySelector("output");
  const main = document.getElementById("main");
  form.hidden = false;
  const holds = (body, mark) => !mark || body.dataset.marks.split(" ").includes(mark);
  const apply = () => {
    const { study, mark, protocol, text } = Object.fromEntries(new FormData(form));
    const wanted = text.trim().toLowerCase();
    main.classList.toggle("only-paper", protocol === "paper");
    main.classList.toggle("only-honest", protocol === "honest");
    main.classList.toggle("marked", Boolean(mark));
    let shown = 0, of = 0;
    all(".study").forEach((section) => {
      section.hidden = Boolean(study) && section.dataset.study !== study;
      all(".table", section).forEach((table) => {
        const named = table.dataset.text.includes(wanted);
        let left = 0;
        all("table.cells > tbody", table).forEach((body) => {
          body.hidden = !(holds(body, mark) && (named || body.dataset.text.includes(wanted)));
          left += !body.hidden;
          of += 1;
          all("td[data-mark]", body).forEach((cell) => cell.classList.toggle("match", cell.dataset.mark === mark));
        });
        table.hidden = !left;
        shown += section.hidden ? 0 : left;
      });
      all(".claims, .figures, .tests", section).forEach((part) => { part.hidden = Boolean(mark || wanted); });
    });
    all("table.flat > tbody > tr").forEach((line) => {
      const [ofStudy, ofTable, ofRow, , , ofProtocol] = Array.from(line.cells, (cell) => cell.textContent);
      line.hidden = !((!study || ofStudy === study) && (!mark || line.dataset.mark === mark)
        && (!protocol || ofProtocol === protocol || ofProtocol === "either")
        && `${ofTable} ${ofRow}`.toLowerCase().includes(wanted));
    });
    const active = study || mark || protocol || wanted;
    said.textContent = active ? `${shown} of ${of} rows` : "";
  };
  form.addEventListener("input", apply);
  form.addEventListener("change", apply);
  form.addEventListener("reset", () => setTimeout(apply));
  form.addEventListener("submit", (event) => event.preventDefault());
  apply();
