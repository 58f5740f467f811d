/**
 * Starts the page of the API: Swagger UI with this instance's document. Requests go to the instance that serves the page.
 * References of an operation are resolved here when it is opened. Swagger UI resolves those of an OpenAPI 3.1 document with
 * ApiDOM, which froze the browser for half a minute for each operation of our document of 6 MB. A reference within itself
 * becomes an empty schema. The page is light or dark by the setting of the reader.
 */
export const DOCS_SCRIPT = `(async () => {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const followReader = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', followReader);
  followReader();
  const spec = await (await fetch('/api/v4/openapi.json')).json();
  const at = (path) => path.reduce((part, name) => part?.[name], spec);
  const pathOf = (ref) => ref.slice(2).split('/').map((name) => name.replace(/~1/g, '/').replace(/~0/g, '~'));
  const resolve = (part, within) => {
    if (Array.isArray(part)) return part.map((item) => resolve(item, within));
    if (typeof part !== 'object' || part === null) return part;
    const ref = part.$ref;
    if (typeof ref === 'string') return within.includes(ref) ? {} : resolve(at(pathOf(ref)), [...within, ref]);
    return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, resolve(value, within)]));
  };
  const requestResolvedSubtree = (_, { specActions, specSelectors }) => (path) => {
    if (specSelectors.specResolvedSubtree(path) === undefined)
      specActions.updateResolvedSubtree(path, resolve(at(path), []));
  };
  SwaggerUIBundle({
    spec,
    dom_id: '#docs',
    docExpansion: 'none',
    defaultModelsExpandDepth: -1,
    deepLinking: true,
    filter: true,
    persistAuthorization: false,
    tryItOutEnabled: true,
    validatorUrl: null,
    plugins: [() => ({ statePlugins: { spec: { wrapActions: { requestResolvedSubtree } } } })],
  });
})();
`;
