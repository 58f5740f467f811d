import { readFileSync } from 'node:fs';
import { registeredEndpoints, templatesOf } from '@rookery/api-v4';
import type { Agent, Response } from 'supertest';
import { requestOf } from '../agent';
import type { Method } from '../agent';

export const MATRIX_MEMBERS = ['guest', 'planner', 'reporter', 'developer', 'maintainer', 'owner'] as const;
export const MATRIX_VISIBILITIES = ['public', 'internal', 'private'] as const;
const ROLES = ['anonymous', 'outsider', ...MATRIX_MEMBERS, 'administrator'] as const;
export type MatrixRole = (typeof ROLES)[number];
export type MatrixVisibility = (typeof MATRIX_VISIBILITIES)[number];
type MatrixLine = {
  method: Method;
  path: string;
  body: string;
  letters: readonly string[];
  statuses: readonly number[];
};

export interface RoleMatrix {
  /** The table. Its head explains the format. */
  readonly file: string;
  /** Paths of the endpoints that need a line. All without it. */
  readonly routes?: RegExp;
  readonly clients: () => Readonly<Record<MatrixRole, Agent>>;
  /** Values for `{project}` in a line, by the visibility of the line's parents. */
  readonly places: () => Readonly<Record<MatrixVisibility, Readonly<Record<string, string>>>>;
}

/**
 * Permissions: every line of a table, in each visibility, for each role. Every endpoint must have a line. The roles are
 * those of members of the parents. Source: reference identity-and-import 12.
 */
export function registerRoleMatrixTests({ file, routes = /^/, clients, places }: RoleMatrix): void {
  const lines = readMatrixLines(file);
  let serial = 0;
  const fill = (text: string, visibility: MatrixVisibility, n: number): string =>
    text.replace(/\{(\w+)\}/g, (whole, key: string) => (key === 'n' ? `${n}` : (places()[visibility][key] ?? whole)));

  it.each(lines.map((line): [string, MatrixLine] => [`${line.method} ${line.path} ${line.body}`, line]))(
    '%s',
    async (_, line) => {
      const deviations: string[] = [];
      for (const [i, visibility] of MATRIX_VISIBILITIES.entries()) {
        for (const [j, role] of ROLES.entries()) {
          const letter = line.letters[i]?.[j] ?? '?';
          const n = ++serial;
          const request = requestOf(clients()[role], line.method, toApiUrl(fill(line.path, visibility, n)));
          const answer = await (line.body === '-'
            ? request
            : request.type('json').send(fill(line.body, visibility, n)));
          if (isMatrixAnswerAsExpected(letter, line, answer)) continue;
          const excerpt = answer.text.slice(0, 120);
          deviations.push(`${visibility} ${role}: ${letter} expected, ${answer.status} ${excerpt}`);
        }
      }
      expect(deviations).toEqual([]);
    },
  );

  describe('the table', () => {
    it('has a line for every endpoint', () => {
      const templates = registeredEndpoints().flatMap((endpoint) =>
        templatesOf(endpoint).map((template) => ({ method: endpoint.method, template })),
      );
      const covered = lines.map(({ method, path }) => {
        const plain = toApiUrl(path);
        const fitting = templates.filter((one) => one.method === method && templatePattern(one.template).test(plain));
        return fitting.sort((a, b) => countTemplateParameters(a.template) - countTemplateParameters(b.template))[0];
      });
      expect(lines.filter((_, i) => covered[i] === undefined).map(({ path }) => path)).toEqual([]);
      const missing = templates.filter((one) => routes.test(one.template) && !covered.includes(one));
      expect(missing).toEqual([]);
    });

    it('has a letter for every role and visibility', () => {
      for (const { letters } of lines) expect(letters.map((word) => word.length)).toEqual([9, 9, 9]);
    });
  });
}

function readMatrixLines(file: string): readonly MatrixLine[] {
  const rows = readFileSync(file, 'utf8')
    .split('\n')
    .filter((row) => row !== '' && !row.startsWith('#'))
    .map((row) => row.split('\t'));
  const classes = new Map(rows.filter((row) => row.length === 4).map(([name, ...letters]) => [name, letters]));
  return rows
    .filter((row) => row.length === 5)
    .map(([method, path, body, name, statuses]) => ({
      method: method as Method,
      path: path!,
      body: body!,
      letters: classes.get(name) ?? [],
      statuses: statuses!.split(',').map(Number),
    }));
}

/** Paths of the table are below the API, or at the root after `//`. */
const toApiUrl = (path: string) => (path.startsWith('//') ? path.slice(1) : `/api/v4${path}`);

/** The answer as a letter of the table; `+` is compared with the status that the line names. */
function isMatrixAnswerAsExpected(
  expectedLetter: string,
  { path, body: sent, statuses }: MatrixLine,
  { status, body, text }: Response,
): boolean {
  // Some clients read refusals as text, others as a list of errors.
  const { message: named, errors } = (body ?? {}) as { message?: unknown; errors?: readonly { message?: unknown }[] };
  const message: unknown = named ?? errors?.[0]?.message ?? text?.trim();
  const parent = /\{(group|project)\}/.exec(path + sent)?.[1];
  const kind = path.startsWith('/namespaces') ? 'Namespace' : parent === 'group' ? 'Group' : 'Project';
  const isHidden = status === 404 && parent !== undefined && message === `404 ${kind} Not Found`;
  switch (expectedLetter) {
    case '+':
      return statuses.includes(status) && (status !== 404 || (!isHidden && message !== 'Not Found'));
    case 'h':
      return isHidden;
    case 'm':
      return status === 404 && /^(404 )?Not Found$/.test(String(message));
    case 'g':
      return status === 404 && !isHidden;
    default:
      return status === { '-': 401, x: 403, b: 400, n: 204 }[expectedLetter];
  }
}

const templatePattern = (template: string) => new RegExp(`^${template.replace(/[:*]\w+/g, '[^/]+')}(\\?.*)?$`);
const countTemplateParameters = (template: string) => template.split(/[:*]/).length;
