import { NpmPublishDocumentScanner } from './document-scanner';
import type { ScannedDocument } from './document-scanner';

/** Scans a text in chunks of a size. `data` maps the names of attachments to their data. */
function scanInChunks(text: string, size = text.length): { document: ScannedDocument; data: Record<string, string> } {
  const scanner = new NpmPublishDocumentScanner();
  const bytes = Buffer.from(text);
  const data: Record<string, string> = {};
  let name = '';
  for (let at = 0; at < bytes.length; at += size) {
    for (const part of scanner.scanChunk(bytes.subarray(at, at + size))) {
      if (part.kind === 'begin') data[(name = part.name)] = '';
      else if (part.kind === 'data') data[name] += part.text;
    }
  }
  return { document: scanner.finish(), data };
}

const VERSIONS = { '1.0.0': { name: 'a', readme: 'a "quoted" {text} \\ with é', nested: [{ data: 'x' }] } };
const ATTACHMENTS = { 'a-1.0.0.tgz': { content_type: 'x', data: 'QUJD', length: 3 } };

describe('a document', () => {
  it.each([
    ['first', { _attachments: ATTACHMENTS, name: 'a', versions: VERSIONS }],
    ['last', { name: 'a', versions: VERSIONS, _attachments: ATTACHMENTS }],
  ])('with its attachments %s is read in chunks of any size', (_, value) => {
    for (const size of [1, 2, 3, 7, 1000]) {
      const { document, data } = scanInChunks(JSON.stringify(value), size);
      expect(data).toEqual({ 'a-1.0.0.tgz': 'QUJD' });
      expect(document.manifest).toEqual(VERSIONS['1.0.0']);
      expect(document.root).toMatchObject({
        ...{ name: 'a', versions: { '1.0.0': null } },
        _attachments: { 'a-1.0.0.tgz': { data: '', length: 3 } },
      });
    }
  });

  it('may escape its keys and its data', () => {
    const text = String.raw`{"_attach\u006dents": {"a.tgz" : { "d\u0061ta" :"QU\/D\nQ\u0055JD" } }}`;
    for (const size of [1, 4, 1000]) expect(scanInChunks(text, size).data).toEqual({ 'a.tgz': 'QU/D\nQUJD' });
  });

  it('keeps the deprecation of each of many versions, and no manifest', () => {
    const versions = { '1.0.0': { deprecated: 'old' }, '1.1.0': {}, '1.2.0': { deprecated: '' } };
    const { document } = scanInChunks(JSON.stringify({ versions }), 5);
    expect(document.manifest).toBeNull();
    expect([...document.versions]).toEqual([
      ['1.0.0', { deprecated: 'old' }],
      ['1.1.0', { deprecated: null }],
      ['1.2.0', { deprecated: '' }],
    ]);
  });

  it('keeps little of deprecations, however large a client sends them', () => {
    const versions = {
      a: { deprecated: 'x'.repeat(3_000_000) },
      b: { deprecated: { x: ['y'] } },
      c: { deprecated: 5 },
    };
    const { document } = scanInChunks(JSON.stringify({ versions }));
    expect([...document.versions].map(([, { deprecated }]) => deprecated?.length ?? null)).toEqual([5000, null, null]);
    const many = Object.fromEntries(
      Array.from({ length: 2000 }, (_, at) => [`${at}`, { deprecated: 'x'.repeat(4500) }]),
    );
    expect(() => scanInChunks(JSON.stringify({ versions: many }))).toThrow('File is too large.');
  });

  it('takes little more memory than its text, however small its chunks are', () => {
    const text = JSON.stringify({ name: 'a', readme: 'x'.repeat(2_000_000), ...VERSIONS });
    const scanner = new NpmPublishDocumentScanner();
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += 1) for (const _ of scanner.scanChunk(bytes.subarray(at, at + 1)));
    const { parts } = (scanner as unknown as { rest: { parts: readonly Buffer[] } }).rest;
    expect(parts.length).toBeLessThan(300);
    expect(scanner.finish().root).toEqual(JSON.parse(text));
  });

  it('hands on data of attachments only', () => {
    const { document, data } = scanInChunks(
      JSON.stringify({ data: 'a', _attachments: { data: 'b', x: [{ data: 'c' }] }, y: { z: { data: 'd' } } }),
    );
    expect(data).toEqual({});
    expect(document.root['_attachments']).toEqual({ data: 'b', x: [{ data: 'c' }] });
  });

  it.each([
    ['', 'Invalid json'],
    ['[]', 'Invalid json'],
    ['{"a":1', 'Invalid json'],
    ['{"a" "b"}', 'Invalid json'],
    ['{"_attachments":{"a.tgz":{"data" "QUJD"}}}', 'Invalid json'],
    ['{"_attachments":{"a.tgz":{"data":"QU\\xD"}}}', 'Invalid json'],
    ['{"versions":{"1.0.0":{"a":}}}', 'Invalid json'],
    ['{"versions":{"1.0.0":{]}}', 'Invalid json'],
    [`{"a":${'['.repeat(201)}${']'.repeat(201)}}`, 'Invalid json'],
    [`{"a":"${'x'.repeat(8 * 1024 * 1024)}"}`, 'File is too large.'],
    [`{"versions":{"1.0.0":{"a":"${'x'.repeat(4 * 1024 * 1024)}"}}}`, 'File is too large.'],
  ])('is refused if it is malformed or too large (%#)', (text, message) => {
    expect(() => scanInChunks(text)).toThrow(message);
  });
});
