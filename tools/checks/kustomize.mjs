/** Renders overlays with the Kustomize in kubectl, and refuses a version with which the overlays have not been rendered. */
import { execFileSync } from 'node:child_process';

/** Major version of Kustomize with which the overlays are rendered and reviewed; kubectl contains it since 1.27. */
const KUSTOMIZE = 5;

/** kubectl is installed with another version of Kustomize. */
export class UnsupportedKustomize extends Error {}

/**
 * Renders the overlay in a folder, or returns null if kubectl is not installed. Errors: UnsupportedKustomize; the output of kubectl if
 * it cannot render.
 * @param {string} folder
 * @param {(...words: string[]) => string} kubectl
 */
export function renderOverlay(folder, kubectl = runKubectl) {
  if (!canRender(kubectl)) return null;
  return kubectl('kustomize', folder);
}

/**
 * Whether kubectl is installed. Errors: UnsupportedKustomize.
 * @param {(...words: string[]) => string} kubectl
 */
export function canRender(kubectl = runKubectl) {
  /** @type {string} */
  let printed;
  try {
    printed = kubectl('version', '--client');
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return false;
    throw error;
  }
  const version = /Kustomize Version: v(\S+)/.exec(printed)?.[1];
  if (Number.parseInt(version ?? '', 10) === KUSTOMIZE) return true;
  const found = version ? `Kustomize ${version}` : 'no version of Kustomize';
  throw new UnsupportedKustomize(
    `kubectl contains ${found}, and the overlays need Kustomize ${KUSTOMIZE}: install kubectl 1.27 or newer, or remove it from PATH to skip this check`,
  );
}

/** @param {string[]} words */
function runKubectl(...words) {
  return execFileSync('kubectl', words, { encoding: 'utf8', stdio: 'pipe' });
}
