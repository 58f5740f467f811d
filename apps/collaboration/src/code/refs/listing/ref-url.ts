/** Encodes the short name of a ref for the path of a URL. Slashes remain. */
export function encodeRefForUrlPath(name: string): string {
  return name.split('/').map(encodeURIComponent).join('/');
}
