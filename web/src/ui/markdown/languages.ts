import { common, createLowlight } from "lowlight";

/** Loaded with the first code that has colours. */
export const lowlight = createLowlight(common);
