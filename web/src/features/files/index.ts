export { FilesPanel } from "./FilesPanel";
export { FileViewer } from "./FileViewer";
