import { Composer } from "./Composer";
import { DropZone } from "./DropZone";

export { Composer, DropZone };
