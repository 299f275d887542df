// Runs before the page is drawn, so a chosen theme does not flash. `js` tells the style sheet that scripts run.
document.documentElement.classList.add("js");
try {
  const theme = localStorage.getItem("parley-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset["theme"] = theme;
} catch {
  // A browser without storage follows the system.
}
