"""Accessibility, as far as it can be tested automatically (WCAG 2.2, level AA)."""

from playwright.sync_api import Page

# All violations of the rules, one text each.
FAULTS = """() => {
  const faults = [];
  const shown = (each) => each.checkVisibility() && !each.closest(".visually-hidden") && !each.matches(".skip:not(:focus)");
  const all = [...document.body.querySelectorAll("*")].filter(shown);

  // 3.1.1, 2.4.2: a language and a title.
  if (document.documentElement.lang !== "en") faults.push("no language");
  if (!document.title) faults.push("no title");

  // 4.1.1: an id is one element's, and what is named by id is there.
  const ids = [...document.querySelectorAll("[id]")].map((each) => each.id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) faults.push(`id ${id} is there twice`);
  for (const attribute of ["for", "aria-labelledby", "aria-describedby"]) {
    for (const each of document.querySelectorAll(`[${attribute}]`)) {
      for (const id of each.getAttribute(attribute).split(" ")) {
        if (!document.getElementById(id)) faults.push(`${attribute} leads nowhere: ${id}`);
      }
    }
  }

  // 1.3.1, 2.4.1: one of each landmark, headings without a gap, sections with a name, lists and tables of what they need.
  for (const landmark of ["main", "body > header", "nav", "h1"]) {
    if (document.querySelectorAll(landmark).length !== 1) faults.push(`not one ${landmark}`);
  }
  let level = 0;
  for (const heading of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    if (!shown(heading)) continue;
    const next = Number(heading.tagName[1]);
    if (next > level + 1) faults.push(`h${next} after h${level}: ${heading.textContent}`);
    level = next;
  }
  for (const each of document.querySelectorAll("section, nav")) {
    if (!each.hasAttribute("aria-labelledby") && !each.hasAttribute("aria-label")) faults.push(`no name: ${each.id}`);
  }
  for (const each of document.querySelectorAll("ul > :not(li), ol > :not(li), dl > :not(dt, dd)")) faults.push(`in a list: ${each.tagName}`);
  for (const each of document.querySelectorAll("th:not([scope])")) faults.push(`th without scope: ${each.textContent}`);

  // 4.1.2: every control has a name; 2.4.3: the order is the document's; 2.5.8: it is big enough.
  for (const each of document.querySelectorAll("a[href], button, input, select, textarea")) {
    const name = each.getAttribute("aria-label") ?? [...(each.labels ?? [])].map((label) => label.textContent).join("") + each.textContent;
    if (!name.trim()) faults.push(`no name: ${each.outerHTML}`);
    if (each.tabIndex > 0) faults.push(`an order of its own: ${each.outerHTML}`);
    const box = each.getBoundingClientRect();
    if (shown(each) && !each.matches("a") && (box.height < 24 || box.width < 24)) faults.push(`too small: ${each.outerHTML}`);
  }

  // 1.4.3: text stands out by 4.5 to 1; 1.4.11: the edge of a field by 3 to 1.
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = ([red, green, blue]) => [red, green, blue].map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
  const contrast = (one, other) => {
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };
  const ground = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = rgba(getComputedStyle(each).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255, 255];
  };
  for (const each of all) {
    const text = [...each.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => node.data.trim()).join("");
    const style = getComputedStyle(each);
    if (text && contrast(rgba(style.color), ground(each)) < 4.5) faults.push(`hard to read: ${text}`);
    if (each.matches("input, select, textarea") && contrast(rgba(style.borderTopColor), ground(each.parentElement)) < 3) {
      faults.push(`an edge that is hard to see: ${each.id}`);
    }
  }

  // 1.4.10: nothing has to be scrolled sideways.
  if (document.documentElement.scrollWidth > document.documentElement.clientWidth) faults.push("wider than the window");
  return faults;
}"""


def faults(page: Page) -> list[str]:
    return page.evaluate(FAULTS)
