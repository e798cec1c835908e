import { Composer } from "./Composer";
import { DropZone } from "./DropZone";
import { startComposer } from "./sending";

export { Composer, DropZone, startComposer };
