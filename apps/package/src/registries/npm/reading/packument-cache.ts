/** Largest document that is kept, and size of all of them. Units: bytes. */
const MAX_DOCUMENT_BYTES = 8 * 1024 * 1024;
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Documents that were written lately, by their revision. A revision names the form, the place, the projects and their
 * generations, so a document of it never becomes outdated. Bounds: 32 MiB; the document that was not used for the longest
 * time goes first.
 */
export class PackumentCache {
  private readonly documents = new Map<string, Buffer>();
  private size = 0;

  findDocument(revision: string): Buffer | null {
    const found = this.documents.get(revision);
    if (found === undefined) return null;
    this.documents.delete(revision);
    this.documents.set(revision, found);
    return found;
  }

  /** Yields a document as bytes, and caches it if it is read to its end. */
  async *keepTexts(revision: string, texts: AsyncIterable<string>): AsyncGenerator<Buffer> {
    let parts: Buffer[] | null = [];
    let size = 0;
    for await (const text of texts) {
      const part = Buffer.from(text);
      size += part.length;
      if (size > MAX_DOCUMENT_BYTES) parts = null;
      parts?.push(part);
      yield part;
    }
    if (parts) this.storeDocument(revision, Buffer.concat(parts, size));
  }

  private storeDocument(revision: string, document: Buffer): void {
    this.size += document.length - (this.documents.get(revision)?.length ?? 0);
    this.documents.delete(revision);
    this.documents.set(revision, document);
    for (const [oldest, { length }] of this.documents) {
      if (this.size <= MAX_BYTES) return;
      this.documents.delete(oldest);
      this.size -= length;
    }
  }
}
