// Runs before the page is drawn, so a chosen theme does not flash. `js` tells the style sheet that scripts run.
const root = document.documentElement;
root.classList.add("js");
try {
  const theme = localStorage.getItem("parley-theme");
  if (theme === "light" || theme === "dark") root.dataset["theme"] = theme;
} catch {
  // A browser without storage follows the system.
}

export {};
