import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A request of a scripted client. `about` names the step of the client. */
export interface LoggedRequest {
  readonly about: string;
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: FormData | Buffer | string;
}

/**
 * Sends the requests of a client that cannot be installed here, and writes them down as it would send them. The log is
 * compared with a golden file, so that a change of what clients see is reviewed. `UPDATE_GOLDEN=1` writes the file.
 */
export class RequestLog {
  private readonly lines: string[] = [];

  /** `names` maps values of this run to their names in the log. */
  constructor(private readonly names: ReadonlyMap<string, string>) {}

  async send({ about, method, url, headers, body }: LoggedRequest): Promise<Response> {
    const answer = await fetch(url, {
      method,
      redirect: 'manual',
      ...(headers ? { headers } : {}),
      ...(body ? { body } : {}),
    });
    const credential = headers?.['authorization']?.split(' ')[0] ?? 'anonymous';
    const shown = ['www-authenticate', 'location', 'x-terraform-get'].flatMap((name) => {
      const value = answer.headers.get(name);
      return value === null ? [] : [`${name}: ${value}`];
    });
    const type = answer.headers.get('content-type') ?? 'no type';
    this.lines.push([about, `${method} ${url}`, credential, `${answer.status} ${type}`, ...shown].join(' | '));
    return answer;
  }

  /** Compares the log with the golden file of this name. */
  expectGolden(name: string): void {
    let text = `${this.lines.join('\n')}\n`;
    for (const [value, shown] of this.names) text = text.replaceAll(value, shown);
    const file = join(__dirname, '../clients/golden', `${name}.txt`);
    if (process.env['UPDATE_GOLDEN'] || !existsSync(file)) writeFileSync(file, text);
    expect(text).toBe(readFileSync(file, 'utf8'));
  }
}
