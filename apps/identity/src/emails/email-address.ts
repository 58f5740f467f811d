// Deliberately loose: no list of top-level domains, numbers may end the host. Source: reference identity-and-import 10.1.
const ADDRESS = /^[^@\s\p{C}]+@[^@\s\p{C}]+$/u;
/** Units: characters; what mail servers take. */
const MOST = 254;

/** What is wrong with an address, in the words of the API. */
export function addressProblems(address: string): string[] {
  if (address.trim() === '') return ["can't be blank"];
  if (address.length > MOST) return [`is too long (maximum is ${MOST} characters)`];
  return ADDRESS.test(address) ? [] : ['is invalid'];
}
