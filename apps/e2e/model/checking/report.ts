import type { Decision, Finding } from './checker';
import { judge, LEASE_MS } from './checker';
import type { Caller } from '../playing/caller';
import type { Fault } from '../playing/faults';
import type { History } from './history';
import type { Question } from '../rules/reference-model';
import { verdicts } from '../rules/reference-model';
import type { Call, Person, Verdicted } from '../playing/world';

export interface Report {
  readonly figures: Readonly<Record<string, number>>;
  readonly violations: readonly Verdicted[];
  readonly text: string;
}

interface Run {
  readonly seed: number;
  readonly caller: Caller;
  /** How many of each kind were made. */
  readonly changes: ReadonlyMap<string, number>;
  readonly faults: readonly Fault[];
}

const TRACED = 8;
const BROKEN: readonly Finding[] = ['stale allow', 'stale effect', 'stale deny', 'wrong refusal'];

/** Judges every decision of a run and tells of it. */
export function reportOf({ seed, caller, changes, faults }: Run): Report {
  const judged = caller.decisions.map(({ call, decision }): Verdicted => ({
    call,
    decision,
    finding: judge(decision),
  }));
  const count = (finding: Finding): number => judged.filter((one) => one.finding === finding).length;
  const statuses = (wanted: (status: number) => boolean): number =>
    caller.calls.filter(({ status }) => wanted(status)).length;
  const told = (kind: Question['effect']): number => judged.filter(({ decision }) => isTold(decision, kind)).length;
  const shown = judged.filter(({ decision }) => decision.question.effect).length - told('to-do') - told('e-mail');
  const figures = {
    seed,
    steps: caller.steps,
    seconds: Math.round(caller.now / 100) / 10,
    changes: [...changes.values()].reduce((sum, made) => sum + made, 0),
    decisions: judged.length,
    'of them in lists': judged.filter(({ decision }) => decision.question.lists).length,
    'of the others refusals': judged.filter(({ decision }) => !decision.question.lists && decision.observed !== 'allow')
      .length,
    'to-dos told': told('to-do'),
    'e-mails told': told('e-mail'),
    'rows of feeds and to-dos': shown,
    'of confidential things': judged.filter(({ decision }) => decision.question.secret).length,
    'epics hidden from readers': judged.filter(({ decision }) => isHiddenEpic(decision)).length,
    'just after a change': judged.filter(({ decision }) => !decision.question.effect && isClose(decision)).length,
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
  const violations = judged.filter(({ finding }) => BROKEN.includes(finding));
  const line = Object.entries(figures).map(([name, value]) => `${name} ${value}`);
  const kinds = [...changes].sort().map(([kind, made]) => `${made} ${kind}`);
  const traces = violations.slice(0, TRACED).map((violation) => traceOf(violation, caller.calls, faults));
  return {
    figures,
    violations,
    text: [`model: ${line.join(', ')}`, `changes: ${kinds.join(', ')}`, ...traces].join('\n\n'),
  };
}

/** Did it reach somebody without their asking? */
function isTold({ asker, question }: Decision, kind: Question['effect']): boolean {
  return typeof asker !== 'string' && asker.token === null && question.effect === kind;
}

/** Is it about an epic that is not known only because it is confidential? */
function isHiddenEpic(decision: Decision): boolean {
  const { asker, question, gateway, forest, secret } = decision;
  if (question.secret?.kind !== 'epic' || !secret) return false;
  const latest = <S>(history: History<S>): S => history.at(history.window(decision, gateway, 0).high).state;
  const [secrecy, who] = [latest(secret), typeof asker === 'string' ? asker : latest(asker.history)];
  const asked = (confidential: boolean) =>
    verdicts(question, latest(forest), who, null, { ...secrecy, confidential }).includes('allow');
  return secrecy.confidential && !asked(true) && asked(false);
}

/** Did something that the decision depends on change in the quarter of a second before it, or meanwhile? */
function isClose({ asker, forest, secret, start, end }: Verdicted['decision']): boolean {
  const own = typeof asker === 'string' ? [] : [asker.history];
  const histories: History<unknown>[] = [forest, ...own, ...(secret ? [secret] : [])];
  return histories.some((history) => {
    const { high } = history.window({ start, end }, '', 0);
    return history.at(high).end > start - 250;
  });
}

/** What is needed to understand one wrong answer: the call, the changes around it, faults, and calls of the asker. */
function traceOf({ call, decision, finding }: Verdicted, calls: readonly Call[], faults: readonly Fault[]): string {
  const { asker, forest, question, secret } = decision;
  const meanwhile = faults.filter((fault) => fault.end > decision.start - LEASE_MS && fault.start < decision.end);
  const near = calls.filter((other) => other !== call && other.end > call.start - 300 && other.start < call.end);
  const who = personOf(call);
  const related = near.filter((other) => other.plan.method !== 'GET' || (who && personOf(other) === who));
  return [
    `${finding.toUpperCase()}: ${said(call)}, taken as ${decision.observed}`,
    `  asked ${JSON.stringify(question)} ${span(decision)}`,
    ...(typeof asker === 'string' ? [] : around('person', asker.history, decision)),
    ...around('forest', forest, decision),
    ...(secret ? around('secret', secret, decision) : []),
    ...meanwhile.map((fault) => `  fault  ${span(fault)} ${fault.about}`),
    ...related.slice(-15).map((other) => `  nearby ${said(other)}`),
  ].join('\n');
}

function around(kind: string, history: History<unknown>, decision: Verdicted['decision']): string[] {
  const { low, high } = history.window(decision, decision.gateway, LEASE_MS);
  const first = Math.max(0, low - 2);
  const last = Math.min(history.length - 1, high + 2);
  return Array.from({ length: last - first + 1 }, (_, offset) => {
    const entry = history.at(first + offset);
    const state = first + offset === low || first + offset === high ? ` = ${shown(entry.state)}` : '';
    return `  ${kind.padEnd(6)} ${span(entry)} by ${entry.gateway || '-'}: ${entry.about}${state}`;
  });
}

function said({ number, plan, start, end, status }: Call): string {
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

function shown(state: unknown): string {
  return JSON.stringify(state, (key, value: unknown) => {
    if (key === 'former') return undefined;
    if (value instanceof Map) return Object.fromEntries(value);
    return value instanceof Set ? [...value] : value;
  });
}

/** The whole event log, for a file. */
export function logOf(caller: Caller, faults: readonly Fault[]): string {
  const lines = [
    ...caller.calls.map((call) => ({ at: call.start, text: said(call) })),
    ...faults.map((fault) => ({ at: fault.start, text: `${span(fault)} FAULT ${fault.about}` })),
  ];
  return lines
    .sort((one, other) => one.at - other.at)
    .map(({ text }) => `${text}\n`)
    .join('');
}
