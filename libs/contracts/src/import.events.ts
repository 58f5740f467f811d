/** The import service publishes no events before its first route; its events are declared here with issue "Imports". */
export {};
