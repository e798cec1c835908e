// An answer that comes in pieces, drawn after each of them: the same for everyone.
import { useState } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";

/** `View` gets the text so far, and whether there is more to come. */
export function offer(View) {
  let show;
  function Answer() {
    const [state, setState] = useState({ text: "", open: true });
    show = setState;
    return <View text={state.text} open={state.open} />;
  }
  const place = document.getElementById("root");
  // Only reading and drawing into the document is compared, not the layout, which is the same for the same elements.
  place.hidden = true;
  const root = createRoot(place);
  flushSync(() => root.render(<Answer />));

  window.stream = async (deltas) => {
    let text = "";
    for (const [at, delta] of deltas.entries()) {
      text += delta;
      flushSync(() => show({ text, open: true }));
      if (at % 100 === 99) await new Promise((done) => setTimeout(done));
    }
    flushSync(() => show({ text, open: false }));
    return place.textContent.length;
  };
}
