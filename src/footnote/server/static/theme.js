// Before anything is drawn, so that a dark room is not lit up first.
try {
  document.documentElement.dataset.theme = JSON.parse(localStorage.getItem("footnote.theme") ?? '"system"');
} catch {
  document.documentElement.dataset.theme = "system";
}
