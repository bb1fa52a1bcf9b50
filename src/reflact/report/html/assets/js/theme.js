// Light, dark, or as the system says; remembered where the browser allows that for files.
const CHOICES = [["", "Auto", "as the system"], ["light", "Light", "light"], ["dark", "Dark", "dark"]];

export function themes() {
  const button = document.getElementById("theme");
  let at = Math.max(0, CHOICES.findIndex(([name]) => name === remembered()));
  const show = () => {
    const [name, text, spoken] = CHOICES[at];
    if (name) document.documentElement.dataset.theme = name;
    else delete document.documentElement.dataset.theme;
    button.textContent = text;
    button.setAttribute("aria-label", `Colours: ${spoken}`);
  };
  button.addEventListener("click", () => {
    at = (at + 1) % CHOICES.length;
    remember(CHOICES[at][0]);
    show();
  });
  show();
}

function remembered() {
  try {
    return localStorage.getItem("reflact-theme") ?? "";
  } catch {
    return "";
  }
}

function remember(name) {
  try {
    localStorage.setItem("reflact-theme", name);
  } catch {
    // A browser without storage for files: the choice holds as long as the page is open.
  }
}
