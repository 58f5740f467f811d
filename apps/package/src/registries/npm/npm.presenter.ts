import { Readable } from 'node:stream';
import type { FileAnswer } from '@rookery/api-v4';
import type { NpmDocument } from './reading/packuments';
import type { NpmForm } from './reading/npm.queries';

/** Media type of the short form of a document. */
export const SHORT_TYPE = 'application/vnd.npm.install-v1+json';
const VARY = 'Accept, Authorization, Private-Token, Job-Token, Deploy-Token';

/** Returns the form of a document that a client prefers. `accept` is the header, or empty without one. */
export function chooseNpmForm(accept: string): NpmForm {
  const weights = new Map(
    accept.split(',').map((range) => {
      const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
      const quality = parameters.map((one) => /^q=([\d.]+)$/.exec(one)?.[1]).find((one) => one !== undefined);
      return [type, quality === undefined ? 1 : Number(quality)] as const;
    }),
  );
  const short = weights.get(SHORT_TYPE) ?? 0;
  return short > 0 && short >= (weights.get('application/json') ?? 0) ? 'short' : 'full';
}

/** A metadata document as an answer. */
export function npmDocumentAnswer({ form, revision, open }: NpmDocument): FileAnswer {
  return {
    stream: open,
    mediaType: form === 'short' ? SHORT_TYPE : 'application/json',
    version: revision,
    headers: { vary: VARY },
  };
}

/** A manifest as an answer. */
export function npmManifestAnswer(manifest: string): FileAnswer {
  return { stream: () => Readable.from([manifest]), mediaType: 'application/json', headers: { vary: VARY } };
}
