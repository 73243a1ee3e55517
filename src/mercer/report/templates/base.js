  const root = document.documentElement;
  const all = (selector, within) => Array.from((within || document).querySelectorAll(selector));
  root.classList.add("scripted");

  // Dark and light: the system's choice until the button is pressed.
  const theme = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
  const nameTheme = () => { theme.textContent = isDark() ? "Light" : "Dark"; theme.setAttribute("aria-label", "Use " + (isDark() ? "light" : "dark") + " colours"); };
  theme.hidden = false;
  theme.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; nameTheme(); });
  system.addEventListener("change", nameTheme);
  nameTheme();

  // On a narrow screen the contents begin closed.
  if (matchMedia("(max-width: 75.99rem)").matches) all(".contents > details").forEach((node) => { node.open = false; });

  // Sorting: up, down, then the order of the paper again. Gaps stay last.
  // A row of a paper is a body of lines; in the long table it is a line.
  const orders = new Map();
  const itemsOf = (table) => Array.from(table.classList.contains("flat") ? table.tBodies[0].rows : table.tBodies);
  const words = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  const valueIn = (item, head) => {
    const slot = head.dataset.slot;
    if (slot === "name") return item.dataset.name;
    if (slot !== undefined) return JSON.parse(item.dataset.sort)[slot];
    const cell = item.cells[head.cellIndex];
    if (cell.dataset.value !== undefined) return cell.dataset.value === "" ? null : Number(cell.dataset.value);
    if (!cell.classList.contains("num")) return cell.textContent || null;
    const value = parseFloat(cell.textContent.replace("−", "-"));
    return Number.isNaN(value) ? null : value;
  };
  const sortTable = (table, head) => {
    const next = { none: "ascending", ascending: "descending", descending: "none" }[head.getAttribute("aria-sort")];
    all("th[aria-sort]", table).forEach((one) => one.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", next);
    const keyed = itemsOf(table).map((item) => [next === "none" ? orders.get(item) : valueIn(item, head), item]);
    const sign = next === "descending" ? -1 : 1;
    keyed.sort(([a, first], [b, second]) => {
      if (a === null || b === null) return (a === null) - (b === null) || orders.get(first) - orders.get(second);
      const way = typeof a === "number" ? a - b : words.compare(a, b);
      return sign * way || orders.get(first) - orders.get(second);
    });
    keyed[0][1].parentNode.append(...keyed.map(([, item]) => item));
  };
  all("table.sortable").forEach((table) => {
    itemsOf(table).forEach((item, order) => orders.set(item, order));
    all("button.sort", table).forEach((button) => button.addEventListener("click", () => sortTable(table, button.closest("th"))));
  });

  // Where a wide table has no room, each of its lines is a card: what stands in it needs its head.
  all("table.flat:not(.slim)").forEach((table) => {
    const heads = Array.from(table.tHead.rows[0].cells, (head) => head.textContent.trim());
    if (heads.length < 4) return;
    table.classList.add("labelled");
    itemsOf(table).forEach((row) => Array.from(row.cells).forEach((cell, k) => { cell.dataset.head = heads[k]; }));
  });

  // What is folded is printed open.
  let folded = [];
  addEventListener("beforeprint", () => { folded = all("main details:not([open])"); folded.forEach((node) => { node.open = true; }); });
  addEventListener("afterprint", () => folded.forEach((node) => { node.open = false; }));
