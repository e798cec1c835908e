import { Streamdown } from "streamdown";
import { offer } from "./stream.jsx";

offer(({ text, open }) => (
  <Streamdown mode={open ? "streaming" : "static"} isAnimating={open}>
    {text}
  </Streamdown>
));
