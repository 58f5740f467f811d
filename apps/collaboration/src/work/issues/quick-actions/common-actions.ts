import { reasonOf } from '../../../talk/mentions/quick-actions/action-set';
import type { Outcome } from '../../../talk/mentions/quick-actions/action-set';
import { checkTexts } from '../issue.entity';

/** A thing that commands change, and what is wished for so far. */
export interface CommonNow {
  readonly thing: { readonly state: 'opened' | 'closed'; readonly confidential: boolean };
  /** In sentences: `issue`. */
  readonly word: string;
  readonly wish: {
    title?: string | undefined;
    stateEvent?: 'close' | 'reopen' | undefined;
    confidential?: boolean | undefined;
  };
}

type CommonAction = (now: CommonNow, argument: string) => Outcome;

const stateAction =
  (event: 'close' | 'reopen', said: string, already: string): CommonAction =>
  ({ thing, word, wish }) => {
    const isClosed = wish.stateEvent === undefined ? thing.state === 'closed' : wish.stateEvent === 'close';
    if (isClosed === (event === 'close')) return { why: already };
    wish.stateEvent = event;
    return { said: `${said} this ${word}.`, changes: { state_event: event } };
  };

const confidential: CommonAction = ({ thing, word, wish }) => {
  if (wish.confidential ?? thing.confidential) return { why: 'it is confidential already' };
  wish.confidential = true;
  return { said: `Made this ${word} confidential.`, changes: { confidential: true } };
};

/** Whoever may open a thing may open it so, and it is so from its first moment. Source: reference work-tracking 2.6, 9.1. */
export const CONFIDENTIAL_ACTIONS = { confidential, make_confidential: confidential } as const;

/** Commands that change issues and epics alike. Source: reference work-tracking 2.6. */
export const COMMON_ACTIONS = {
  close: stateAction('close', 'Closed', 'it is closed already'),
  reopen: stateAction('reopen', 'Reopened', 'it is open already'),
  title: ({ wish }, title) => {
    try {
      checkTexts({ title });
    } catch (error) {
      return { why: `the title ${reasonOf(error)}` };
    }
    wish.title = title;
    return { said: `Changed the title to "${title}".`, changes: { title } };
  },
} as const satisfies Record<string, CommonAction>;

/** Does the text of what is opened ask that it be confidential? */
export function opensConfidential(commands: readonly { readonly name: string }[]): boolean {
  return commands.some(({ name }) => Object.hasOwn(CONFIDENTIAL_ACTIONS, name));
}
