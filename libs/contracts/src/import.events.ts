/** The import service announces nothing before its first route; its events are declared here with issue "Imports". */
export {};
