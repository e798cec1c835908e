import { SourcePanel } from "./footnote/SourcePanel";
import { SourcesPanel } from "./SourcesPanel";

export { SourcePanel, SourcesPanel };
