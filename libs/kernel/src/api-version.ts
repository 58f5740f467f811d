/**
 * Version of the API that Rookery serves. It has three parts: two integers, and a third with the suffix. Clients split
 * the version and enable features by it.
 * Source: reference packages-and-admin 10.2; reference identity-and-import 1.4.
 */
export const API_VERSION = '18.1.1-ee';
