import type { Decision, Finding } from './checker';
import { classify, LEASE_MS } from './checker';
import type { Caller } from '../playing/caller';
import type { Fault } from '../playing/faults';
import type { History } from './history';
import type { Question } from '../rules/reference-model';
import { verdicts } from '../rules/reference-model';
import type { Call, Person, CheckedDecision } from '../playing/world';

export interface Report {
  readonly figures: Readonly<Record<string, number>>;
  readonly violations: readonly CheckedDecision[];
  readonly text: string;
}

interface Run {
  readonly seed: number;
  readonly caller: Caller;
  /** Numbers of changes by kind. */
  readonly changes: ReadonlyMap<string, number>;
  readonly faults: readonly Fault[];
}

const MOST_EXPLAINED = 8;
const BROKEN: readonly Finding[] = ['stale allow', 'stale effect', 'stale deny', 'wrong refusal'];

/** Classifies every decision of a run and renders the report. */
export function reportOf({ seed, caller, changes, faults }: Run): Report {
  const checked = caller.decisions.map(({ call, decision }): CheckedDecision => ({
    call,
    decision,
    finding: classify(decision),
  }));
  const count = (finding: Finding): number => checked.filter((one) => one.finding === finding).length;
  const statuses = (wanted: (status: number) => boolean): number =>
    caller.calls.filter(({ status }) => wanted(status)).length;
  const delivered = (kind: Question['effect']): number =>
    checked.filter(({ decision }) => isDelivered(decision, kind)).length;
  const listRows =
    checked.filter(({ decision }) => decision.question.effect).length - delivered('to-do') - delivered('e-mail');
  const figures = {
    seed,
    steps: caller.steps,
    seconds: Math.round(caller.now / 100) / 10,
    changes: [...changes.values()].reduce((sum, made) => sum + made, 0),
    decisions: checked.length,
    'of them in lists': checked.filter(({ decision }) => decision.question.isListRow).length,
    'of the others refusals': checked.filter(
      ({ decision }) => !decision.question.isListRow && decision.observed !== 'allow',
    ).length,
    'to-dos delivered': delivered('to-do'),
    'e-mails delivered': delivered('e-mail'),
    'rows of feeds and to-dos': listRows,
    'of issues and epics that may be confidential': checked.filter(({ decision }) => decision.question.secret).length,
    'epics hidden from readers': checked.filter(({ decision }) => isHiddenEpic(decision)).length,
    'just after a change': checked.filter(({ decision }) => !decision.question.effect && isClose(decision)).length,
    'by a kept token check': count('by lease'),
    'answers 503': statuses((status) => status === 503),
    'answers 502 and 504': statuses((status) => status === 502 || status === 504),
    'answers 429': statuses((status) => status === 429),
    'answers 500': statuses((status) => status === 500),
    'cut connections': statuses((status) => status === 0),
    faults: faults.length,
    'stale allows': count('stale allow'),
    'stale effects': count('stale effect'),
    'stale denies': count('stale deny'),
    'wrong refusals': count('wrong refusal'),
  };
  const violations = checked.filter(({ finding }) => BROKEN.includes(finding));
  const line = Object.entries(figures).map(([name, value]) => `${name} ${value}`);
  const kinds = [...changes].sort().map(([kind, made]) => `${made} ${kind}`);
  const explanations = violations.slice(0, MOST_EXPLAINED).map((violation) => explain(violation, caller.calls, faults));
  return {
    figures,
    violations,
    text: [`model: ${line.join(', ')}`, `changes: ${kinds.join(', ')}`, ...explanations].join('\n\n'),
  };
}

/** Reports whether the decision is a delivered effect of this kind. */
function isDelivered({ asker, question }: Decision, kind: Question['effect']): boolean {
  return typeof asker !== 'string' && asker.token === null && question.effect === kind;
}

/** Reports whether the decision is about an epic that is hidden only because it is confidential. */
function isHiddenEpic(decision: Decision): boolean {
  const { asker, question, gateway, forest, secret } = decision;
  if (question.secret?.kind !== 'epic' || !secret) return false;
  const latest = <S>(history: History<S>): S => history.at(history.window(decision, gateway, 0).high).state;
  const [secrecy, who] = [latest(secret), typeof asker === 'string' ? asker : latest(asker.history)];
  const asked = (confidential: boolean) =>
    verdicts(question, latest(forest), who, null, { ...secrecy, confidential }).includes('allow');
  return secrecy.confidential && !asked(true) && asked(false);
}

/** Reports whether a state that the decision depends on changed during it or in the quarter of a second before it. */
function isClose({ asker, forest, secret, start, end }: CheckedDecision['decision']): boolean {
  const own = typeof asker === 'string' ? [] : [asker.history];
  const histories: History<unknown>[] = [forest, ...own, ...(secret ? [secret] : [])];
  return histories.some((history) => {
    const { high } = history.window({ start, end }, '', 0);
    return history.at(high).end > start - 250;
  });
}

/** Renders the context of one wrong answer: the call, the changes around it, faults, and other calls of the caller. */
function explain(
  { call, decision, finding }: CheckedDecision,
  calls: readonly Call[],
  faults: readonly Fault[],
): string {
  const { asker, forest, question, secret } = decision;
  const meanwhile = faults.filter((fault) => fault.end > decision.start - LEASE_MS && fault.start < decision.end);
  const near = calls.filter((other) => other !== call && other.end > call.start - 300 && other.start < call.end);
  const who = personOf(call);
  const related = near.filter((other) => other.plan.method !== 'GET' || (who && personOf(other) === who));
  return [
    `${finding.toUpperCase()}: ${describeCall(call)}, taken as ${decision.observed}`,
    `  asked ${JSON.stringify(question)} ${span(decision)}`,
    ...(typeof asker === 'string' ? [] : around('person', asker.history, decision)),
    ...around('forest', forest, decision),
    ...(secret ? around('secret', secret, decision) : []),
    ...meanwhile.map((fault) => `  fault  ${span(fault)} ${fault.about}`),
    ...related.slice(-15).map((other) => `  nearby ${describeCall(other)}`),
  ].join('\n');
}

function around(kind: string, history: History<unknown>, decision: CheckedDecision['decision']): string[] {
  const { low, high } = history.window(decision, decision.gateway, LEASE_MS);
  const first = Math.max(0, low - 2);
  const last = Math.min(history.length - 1, high + 2);
  return Array.from({ length: last - first + 1 }, (_, offset) => {
    const entry = history.at(first + offset);
    const state = first + offset === low || first + offset === high ? ` = ${stateText(entry.state)}` : '';
    return `  ${kind.padEnd(6)} ${span(entry)} by ${entry.gateway || '-'}: ${entry.about}${state}`;
  });
}

function describeCall({ number, plan, start, end, status }: Call): string {
  const { asker } = plan;
  const who = typeof asker === 'string' ? asker : `${asker.person.name} with ${asker.token}`;
  return `${span({ start, end })} #${number} ${who} by ${plan.gateway.name}: ${plan.method} ${plan.path} -> ${status}`;
}

function span({ start, end }: { start: number; end: number }): string {
  return `[${start.toFixed(1)} ${end.toFixed(1)}]`;
}

function personOf({ plan: { asker } }: Call): Person | null {
  return typeof asker === 'string' ? null : asker.person;
}

function stateText(state: unknown): string {
  return JSON.stringify(state, (key, value: unknown) => {
    if (key === 'former') return undefined;
    if (value instanceof Map) return Object.fromEntries(value);
    return value instanceof Set ? [...value] : value;
  });
}

/** Renders the log of all calls and faults. */
export function logOf(caller: Caller, faults: readonly Fault[]): string {
  const lines = [
    ...caller.calls.map((call) => ({ at: call.start, text: describeCall(call) })),
    ...faults.map((fault) => ({ at: fault.start, text: `${span(fault)} FAULT ${fault.about}` })),
  ];
  return lines
    .sort((one, other) => one.at - other.at)
    .map(({ text }) => `${text}\n`)
    .join('');
}
