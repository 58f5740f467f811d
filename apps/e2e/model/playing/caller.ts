import { setTimeout as pause } from 'node:timers/promises';
import type { Decision } from '../checking/checker';
import type { History } from '../checking/history';
import type { Forest } from '../rules/forest';
import type { Question, Verdict } from '../rules/reference-model';
import type { Asker, Call, Plan, Secret } from './world';

const CALL_LIMIT_MS = 15_000;
const DEFINITE_WITHIN_MS = 180_000;
/** Reports whether a status says nothing about permissions: rate limits, failures and cut connections. */
export const isUndecided = (status: number): boolean => status === 0 || status === 429 || status >= 500;

/** Sent for a token that was revoked before its secret was answered: a call without a token would be anonymous. */
const LOST = 'glpat-nobody-was-ever-told';

/** An answer, with the status 0 if the connection was cut. */
export type Sent = Pick<Call, 'status' | 'body' | 'total'>;
/** An answer that says nothing about permissions. */
export const undecided: Sent = { status: 0, body: null };

/** Makes calls through the gateways at the rate of the run, and records all of them with their times. */
export class Caller {
  readonly calls: Call[] = [];
  readonly decisions: { readonly call: Call; readonly decision: Decision }[] = [];
  private readonly from = performance.now();
  private made = 0;

  constructor(
    private readonly rootToken: string,
    private readonly forest: History<Forest>,
    /** Units: calls a second. */
    private readonly rate: number,
  ) {}

  get steps(): number {
    return this.made;
  }

  /** Units: ms since the run began. */
  get now(): number {
    return performance.now() - this.from;
  }

  /** Waits before a scene until its calls are due, so that the ratio of faults to calls stays constant. */
  async keepPace(stepsBefore: number, since: number): Promise<void> {
    const dueMs = ((this.made - stepsBefore) / this.rate) * 1000 - (this.now - since);
    if (dueMs > 0) await pause(dueMs);
  }

  /** Makes a call and records its answer as a decision. `make` makes it in another way than by the API. */
  async ask(plan: Plan, make?: () => Promise<Sent>): Promise<Call> {
    const call = await this.send(plan, make);
    if (isUndecided(call.status)) await pause(60);
    else this.note(call, observed(call.status, plan.question));
    return call;
  }

  /** Repeats a change as root until there is a definite answer. Errors: no definite answer within the limit. */
  async resolveOutcome(
    plan: Plan,
    first: Call,
    retry: Pick<Plan, 'method' | 'path'> & { json?: object },
  ): Promise<Call> {
    const until = this.now + DEFINITE_WITHIN_MS;
    // The first attempt may still be running behind a gateway that was killed.
    await pause(1000);
    for (;;) {
      await pause(120);
      const call = await this.send({
        gateway: plan.gateway,
        question: plan.question,
        ...retry,
        asker: 'root',
      });
      if (!isUndecided(call.status)) return { ...call, start: first.start };
      if (this.now > until)
        throw new Error(`${retry.method} ${retry.path}: ${call.status} for ${DEFINITE_WITHIN_MS} ms`);
    }
  }

  /** Records a decision. `observed` may differ from the status of an answer that contains many decisions. */
  note(
    call: Call,
    observed: Verdict,
    question = call.plan.question,
    secret: Secret | undefined = call.plan.secret,
  ): void {
    const { asker, gateway } = call.plan;
    const decision: Decision = {
      start: call.start,
      end: call.end,
      gateway: gateway.name,
      question,
      asker: typeof asker === 'string' ? asker : { history: asker.person.history, token: asker.token },
      forest: this.forest,
      secret: secret?.history,
      observed,
    };
    this.decisions.push({ call, decision });
  }

  private async send(plan: Plan, make = () => this.fetch(plan)): Promise<Call> {
    const number = (this.made += 1);
    const start = this.now;
    const answer = await make();
    const call = { number, plan, start, end: this.now, ...answer };
    this.calls.push(call);
    return call;
  }

  private async fetch({ gateway, method, path, json, asker }: Plan): Promise<Sent> {
    const token = this.secretOf(asker);
    try {
      const response = await fetch(`${gateway.baseUrl}/api/v4${path}`, {
        method,
        redirect: 'manual',
        headers: {
          ...(token === null ? {} : { [this.isOfJob(asker) ? 'job-token' : 'private-token']: token }),
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
        signal: AbortSignal.timeout(CALL_LIMIT_MS),
      });
      const text = await response.text();
      const isJson = response.headers.get('content-type') === 'application/json' && text !== '';
      const total = Number(response.headers.get('x-total') ?? NaN);
      return { status: response.status, body: isJson ? JSON.parse(text) : text, total };
    } catch {
      return undecided;
    }
  }

  isOfJob(asker: Asker): boolean {
    return typeof asker !== 'string' && asker.person.history.latest.jobs.has(asker.token);
  }

  /** The secret of a caller's token; null for anonymous callers. */
  secretOf(asker: Asker): string | null {
    if (asker === 'anonymous') return null;
    return asker === 'root' ? this.rootToken : (asker.person.secrets.get(asker.token)?.secret ?? LOST);
  }
}

/** Maps a status to a verdict: other 4xx (invalid input, conflicts) mean that the permission check passed. */
function observed(status: number, { token }: Question): Verdict {
  if (status === 400 && token) return 400;
  return status === 301 || status === 401 || status === 403 || status === 404 ? status : 'allow';
}
