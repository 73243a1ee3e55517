
  // Scatters: all points on a canvas, which tells what the pointer is at, hides classes and zooms.
  all(".scatter").forEach((figure) => {
    const STEPS = 65535, HELD_OUT = 1, MARKED = 2, BEYOND = 4, REACH = 12;
    const n = Number(figure.dataset.n);
    const bytes = Uint8Array.from(atob(figure.dataset.points), (letter) => letter.charCodeAt(0)).buffer;
    const rows = new Uint32Array(bytes, 0, n), xs = new Uint16Array(bytes, 4 * n, n), ys = new Uint16Array(bytes, 6 * n, n);
    const kinds = new Uint16Array(bytes, 8 * n, n), flags = new Uint8Array(bytes, 10 * n, n);
    const names = JSON.parse(figure.dataset.names), glyphs = JSON.parse(figure.dataset.glyphs), extent = JSON.parse(figure.dataset.extent);
    const canvas = figure.querySelector("canvas"), pen = canvas.getContext("2d"), tip = figure.querySelector(".tip");
    const only = figure.querySelector("[name=held-out]"), wanted = figure.querySelector("[name=row]"), said = figure.querySelector("output");
    const isSplit = Boolean(only), isShown = names.map(() => true);
    const buttons = all("[data-class]", figure);
    const view = { x: 0, y: 0, k: 1 };
    let area = { left: 0, top: 0, width: 1, height: 1 }, pinned = -1, waiting = false;

    const isVisible = (i) => isShown[kinds[i]] && !(isSplit && only.checked && !(flags[i] & HELD_OUT));
    const across = (i) => area.left + (xs[i] / STEPS - view.x) * view.k * area.width;
    const down = (i) => area.top + (1 - ys[i] / STEPS - view.y) * view.k * area.height;
    const isInside = (x, y) => x >= area.left && x <= area.left + area.width && y >= area.top && y <= area.top + area.height;
    const digits = (value) => value.toPrecision(4).replace("-", "−");

    // A glyph of each class, drawn once: in full colour and pale.
    const stamps = (ratio, colours, page) => {
      const scale = Math.min(2, view.k ** 0.3), side = Math.ceil(16 * scale);
      const made = glyphs.map((one) => [1, 0.3].map((alpha) => {
        const stamp = document.createElement("canvas");
        stamp.width = stamp.height = Math.ceil(side * ratio);
        const own = stamp.getContext("2d");
        own.setTransform(ratio * scale, 0, 0, ratio * scale, stamp.width / 2, stamp.height / 2);
        own.globalAlpha = alpha * (one.outline ? 1 : 0.85);
        const path = new Path2D(one.d);
        if (one.outline) { own.strokeStyle = colours[one.colour]; own.lineWidth = 1.3; own.stroke(path); }
        else { own.fillStyle = colours[one.colour]; own.fill(path); own.strokeStyle = page; own.lineWidth = 0.4; own.stroke(path); }
        return stamp;
      }));
      return { made, side };
    };

    const ticks = (low, high, most) => {
      const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough));
      const step = power * [1, 2, 5, 10].find((digit) => digit * power >= rough);
      const found = [];
      for (let k = Math.ceil(low / step); k * step <= high; k += 1) found.push(k * step);
      const places = Math.min(20, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
      return found.map((value) => [value, (Math.abs(value) < step / 2 ? 0 : value).toFixed(places).replace("-", "−")]);
    };

    const draw = () => {
      waiting = false;
      const ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
      if (!width) return;
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      area = { left: 44, top: 10, width: width - 56, height: height - 36 };
      const style = getComputedStyle(figure), colour = (name) => style.getPropertyValue(name).trim();
      const colours = Array.from({ length: 10 }, (_, k) => colour(`--c${k}`));
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      pen.font = `11px ${colour("--sans")}`;
      pen.lineWidth = 1;
      const [left, right, bottom, top] = extent;
      const low = left + view.x * (right - left), high = low + (right - left) / view.k;
      const ceiling = top - view.y * (top - bottom), floor = ceiling - (top - bottom) / view.k;
      pen.strokeStyle = colour("--grid");
      pen.fillStyle = colour("--text");
      pen.textAlign = "center";
      ticks(low, high, width / 90).forEach(([value, text]) => {
        const x = area.left + (value - low) / (high - low) * area.width;
        pen.beginPath(); pen.moveTo(x, area.top); pen.lineTo(x, area.top + area.height); pen.stroke();
        pen.fillText(text, x, area.top + area.height + 16);
      });
      pen.textAlign = "right";
      ticks(floor, ceiling, height / 70).forEach(([value, text]) => {
        const y = area.top + (ceiling - value) / (ceiling - floor) * area.height;
        pen.beginPath(); pen.moveTo(area.left, y); pen.lineTo(area.left + area.width, y); pen.stroke();
        pen.fillText(text, area.left - 6, y + 4);
      });
      pen.save();
      pen.beginPath(); pen.rect(area.left, area.top, area.width, area.height); pen.clip();
      const { made, side } = stamps(ratio, colours, colour("--card"));
      pen.strokeStyle = colour("--ink");
      pen.lineWidth = 1.3;
      for (let i = 0; i < n; i += 1) {
        if (!isVisible(i)) continue;
        const x = across(i), y = down(i);
        if (x < area.left - side || x > area.left + area.width + side || y < area.top - side || y > area.top + area.height + side) continue;
        pen.drawImage(made[kinds[i]][isSplit && !(flags[i] & HELD_OUT) ? 1 : 0], x - side / 2, y - side / 2, side, side);
        if (flags[i] & MARKED) { pen.beginPath(); pen.arc(x, y, 5.5, 0, 7); pen.stroke(); }
      }
      if (pinned >= 0) {
        pen.lineWidth = 2;
        pen.strokeStyle = colour("--accent");
        pen.beginPath(); pen.arc(across(pinned), down(pinned), 9, 0, 7); pen.stroke();
      }
      pen.restore();
      canvas.classList.toggle("near", view.k > 1);
    };
    const redraw = () => { if (!waiting) { waiting = true; requestAnimationFrame(draw); } };

    const describe = (i) => {
      const more = isSplit ? (flags[i] & HELD_OUT ? ", held out" : ", not held out") : "";
      return `${names[kinds[i]]}${more}${flags[i] & MARKED ? ", wrong for every model" : ""}`;
    };
    const showTip = (i) => {
      if (i < 0) { tip.hidden = true; return; }
      const [left, right, bottom, top] = extent;
      const head = document.createElement("strong"), place = document.createElement("span");
      head.textContent = `row ${rows[i]}`;
      place.textContent = flags[i] & BEYOND ? "far outside" : `x ${digits(left + xs[i] / STEPS * (right - left))}, y ${digits(bottom + ys[i] / STEPS * (top - bottom))}`;
      tip.replaceChildren(head, describe(i), document.createElement("br"), place);
      tip.hidden = false;
      const x = across(i), y = down(i), wide = canvas.clientWidth;
      tip.style.left = `${Math.max(0, Math.min(x + 12, wide - tip.offsetWidth - 2))}px`;
      tip.style.top = `${y + 14 + tip.offsetHeight > canvas.clientHeight ? y - tip.offsetHeight - 12 : y + 14}px`;
    };
    const nearest = (x, y) => {
      let best = -1, least = REACH * REACH;
      for (let i = 0; i < n; i += 1) {
        const a = across(i) - x, b = down(i) - y, far = a * a + b * b;
        if (far <= least && isVisible(i) && isInside(across(i), down(i))) { best = i; least = far; }
      }
      return best;
    };

    const settle = () => {
      const most = 1 - 1 / view.k;
      view.x = Math.min(Math.max(view.x, 0), most);
      view.y = Math.min(Math.max(view.y, 0), most);
      showTip(-1);
      redraw();
    };
    const zoom = (factor, x, y) => {
      const before = view.k;
      view.k = factor ? Math.min(Math.max(view.k * factor, 1), 400) : 1;
      view.x += x * (1 / before - 1 / view.k);
      view.y += y * (1 / before - 1 / view.k);
      settle();
    };
    const share = (event) => {
      const box = canvas.getBoundingClientRect();
      return [(event.clientX - box.left - area.left) / area.width, (event.clientY - box.top - area.top) / area.height];
    };
    let grip = null;
    canvas.addEventListener("pointerdown", (event) => {
      if (view.k > 1) { grip = [event.clientX, event.clientY]; canvas.setPointerCapture(event.pointerId); }
    });
    canvas.addEventListener("pointermove", (event) => {
      if (grip) {
        view.x -= (event.clientX - grip[0]) / area.width / view.k;
        view.y -= (event.clientY - grip[1]) / area.height / view.k;
        grip = [event.clientX, event.clientY];
        settle();
        return;
      }
      const box = canvas.getBoundingClientRect();
      showTip(nearest(event.clientX - box.left, event.clientY - box.top));
    });
    canvas.addEventListener("pointerup", (event) => {
      grip = null;
      const box = canvas.getBoundingClientRect();
      showTip(nearest(event.clientX - box.left, event.clientY - box.top));
    });
    canvas.addEventListener("pointercancel", () => { grip = null; });
    canvas.addEventListener("pointerleave", (event) => { if (!grip && event.pointerType !== "touch") showTip(-1); });
    canvas.addEventListener("dblclick", (event) => zoom(2, ...share(event)));
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      zoom(Math.exp(-event.deltaY / 200), ...share(event));
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const moves = { ArrowLeft: [-0.2, 0], ArrowRight: [0.2, 0], ArrowUp: [0, -0.2], ArrowDown: [0, 0.2] };
      const factor = { "+": 1.6, "=": 1.6, "-": 0.625, "0": 0 }[event.key];
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (factor !== undefined) zoom(factor, 0.5, 0.5);
      else if (moves[event.key] && view.k > 1) { view.x += moves[event.key][0] / view.k; view.y += moves[event.key][1] / view.k; settle(); }
      else return;
      event.preventDefault();
    });
    all("[data-zoom]", figure).forEach((button) => button.addEventListener("click", () => zoom(Number(button.dataset.zoom), 0.5, 0.5)));

    const press = () => { buttons.forEach((button, k) => button.setAttribute("aria-pressed", String(isShown[k]))); showTip(-1); redraw(); };
    buttons.forEach((button, k) => button.addEventListener("click", () => { isShown[k] = !isShown[k]; press(); }));
    all("[data-all]", figure).forEach((button) => button.addEventListener("click", () => { isShown.fill(Boolean(button.dataset.all)); press(); }));
    if (only) only.addEventListener("change", press);
    wanted.addEventListener("input", () => {
      pinned = wanted.value ? rows.indexOf(Number(wanted.value)) : -1;
      said.textContent = pinned >= 0 ? describe(pinned) : wanted.value ? `Row ${wanted.value} is not on the map.` : "";
      if (pinned >= 0) {
        const x = across(pinned), y = down(pinned);
        if (!isInside(x, y)) { view.x = xs[pinned] / STEPS - 0.5 / view.k; view.y = 1 - ys[pinned] / STEPS - 0.5 / view.k; settle(); }
        isShown[kinds[pinned]] = true;
        if (only && only.checked && !(flags[pinned] & HELD_OUT)) only.checked = false;
      }
      press();
      showTip(pinned);
    });
    figure.classList.add("is-live");
    new ResizeObserver(redraw).observe(canvas);
    new MutationObserver(redraw).observe(root, { attributes: true, attributeFilter: ["data-theme"] });
    system.addEventListener("change", redraw);
    draw();
  });
