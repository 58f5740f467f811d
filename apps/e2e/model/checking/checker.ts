import type { History, Span, Window } from './history';
import { mayCoexist } from './history';
import type { Forest } from '../rules/forest';
import type { PersonState } from '../rules/people';
import type { Secrecy } from '../rules/secrets';
import type { Question, Verdict } from '../rules/reference-model';
import { tokenRefusals, verdicts } from '../rules/reference-model';

/**
 * An answered call with all states that its answer depends on; or an effect, from its cause until it was found. `token`
 * is null for effects.
 */
export interface Decision extends Span {
  readonly gateway: string;
  readonly question: Question;
  readonly asker: 'root' | 'anonymous' | { readonly history: History<PersonState>; readonly token: string | null };
  readonly forest: History<Forest>;
  /** History of the issue or epic that the question is about, if any. */
  readonly secret?: History<Secrecy> | undefined;
  readonly observed: Verdict;
}

export type Finding = 'fine' | 'by lease' | 'stale allow' | 'stale effect' | 'stale deny' | 'wrong refusal';

/** Maximum age of a token check at a gateway that did not process the change. Units: ms. Source: ADR 0050. */
export const LEASE_MS = 1000;
/** The same for callers without a token. Source: reference reliability 4.3. */
export const ANONYMOUS_MS = 60_000;
/** The two clocks are rounded. Units: ms. */
const ROUNDING_MS = 3;

type Accepts = (due: readonly Verdict[]) => boolean;

/**
 * Classifies a decision: it is right if some state that the call may have met explains its answer. A call meets two
 * states: that of the token and its holder at the token check, and then that of the directory. Both are at least as new as
 * the start of the call. Only a gateway that did not process the change may use a good token check up to a second old, and
 * services the directory version that came with it; identity always decides by its own tables. Effects depend on the
 * directory only, at least as new as their cause, because the causing call passed its own token check. Confidentiality is
 * checked by the service's own rows, which are never late, and which it reads at another moment than the directory.
 * Source: ADR 0042, 0050, 0090, 0171.
 */
export function classify(decision: Decision): Finding {
  const { asker, observed } = decision;
  const slackMs = (asker === 'anonymous' ? ANONYMOUS_MS : LEASE_MS) + ROUNDING_MS;
  const isRight: Accepts = (due) => due.includes(observed);
  if (isExplained(decision, 0, isRight)) return 'fine';
  if (isExplained(decision, slackMs, isRight)) return 'by lease';
  if (isAllowing(observed)) return decision.question.effect ? 'stale effect' : 'stale allow';
  const isDenial: Accepts = (due) => due.some((verdict) => !isAllowing(verdict));
  return isExplained(decision, 0, isDenial) || isExplained(decision, slackMs, isDenial)
    ? 'wrong refusal'
    : 'stale deny';
}

function isAllowing(verdict: Verdict): boolean {
  return verdict === 'allow' || verdict === 301;
}

/**
 * Reports whether some state explains the answer. If `slackMs` is 0, the token was checked during the call. Otherwise
 * an older good check of the token may count.
 */
function isExplained(decision: Decision, slackMs: number, accepts: Accepts): boolean {
  const { asker, question, gateway, forest, secret } = decision;
  const secrets = secret ? statesIn(secret, secret.window(decision, gateway, 0)).map(({ state }) => state) : [null];
  const isDue = (state: Forest, person: PersonState | 'root' | 'anonymous', token: string | null): boolean =>
    secrets.some((secrecy) => accepts(verdicts(question, state, person, token, secrecy)));
  const directorySlackMs = question.service === 'identity' ? 0 : slackMs;
  const forests = statesIn(forest, forest.window(decision, gateway, directorySlackMs));
  if (typeof asker === 'string') {
    return forests.some(({ state }) => isDue(state, asker, null));
  }
  const { history, token } = asker;
  const people = history.window(decision, gateway, directorySlackMs);
  const byDirectory = (from: number, checked: PersonState | null): boolean =>
    statesIn(history, { low: Math.max(from, people.low), high: people.high }).some((person) =>
      forests.some(({ state, life }) => {
        const known = checked ? asChecked(person.state, checked) : person.state;
        return mayCoexist(life, person.life) && isDue(state, known, token);
      }),
    );
  if (token === null) return byDirectory(0, null);
  // The token of a job is checked by each request.
  const tokenSlackMs = history.at(history.length - 1).state.jobs.has(token) ? 0 : slackMs;
  return statesIn(history, history.window(decision, gateway, tokenSlackMs)).some((atTokenCheck) => {
    const refusals = tokenRefusals(atTokenCheck.state, token);
    if (refusals === null) return byDirectory(atTokenCheck.index, atTokenCheck.state);
    // Gateways keep only good token checks, so a refusal is always new.
    return tokenSlackMs === 0 && accepts(refusals);
  });
}

/** Combines both states: flags and tokens are those of the token check, memberships those of the directory. */
function asChecked(state: PersonState, { external, admin, tokens, jobs }: PersonState): PersonState {
  return { ...state, external, admin, tokens, jobs };
}

function statesIn<S>(history: History<S>, { low, high }: Window) {
  return Array.from({ length: Math.max(0, high - low + 1) }, (_, offset) => {
    const index = low + offset;
    return { index, state: history.at(index).state, life: history.life(index) };
  });
}
