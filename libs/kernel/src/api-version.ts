/**
 * Version of the API that Rookery serves. Shape: three parts, two of them integers, the suffix in the third: clients
 * split it and switch features by it.
 * Source: reference packages-and-admin 10.2; reference identity-and-import 1.4.
 */
export const API_VERSION = '18.1.1-ee';
