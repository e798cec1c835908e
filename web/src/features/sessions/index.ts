import { SessionSidebar } from "./SessionSidebar";

export { SessionSidebar };
