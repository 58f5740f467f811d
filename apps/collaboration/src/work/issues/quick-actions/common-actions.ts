import { describeQuickActionRefusal } from '../../../talk/mentions/quick-actions/action-set';
import type { ActionResult } from '../../../talk/mentions/quick-actions/action-set';
import { checkTitleAndDescription } from '../issue.entity';

/** A noteable that commands change, and the changes so far. */
export interface CommonChanges {
  readonly target: { readonly state: 'opened' | 'closed'; readonly confidential: boolean };
  /** Name of the kind in messages: `issue`. */
  readonly word: string;
  readonly update: {
    title?: string | undefined;
    stateEvent?: 'close' | 'reopen' | undefined;
    confidential?: boolean | undefined;
  };
}

type CommonAction = (changes: CommonChanges, argument: string) => ActionResult;

const createCloseOrReopenAction =
  (event: 'close' | 'reopen', said: string, already: string): CommonAction =>
  ({ target, word, update }) => {
    const isClosed = update.stateEvent === undefined ? target.state === 'closed' : update.stateEvent === 'close';
    if (isClosed === (event === 'close')) return { why: already };
    update.stateEvent = event;
    return { said: `${said} this ${word}.`, changes: { state_event: event } };
  };

const makeNoteableConfidential: CommonAction = ({ target, word, update }) => {
  if (update.confidential ?? target.confidential) return { why: 'it is confidential already' };
  update.confidential = true;
  return { said: `Made this ${word} confidential.`, changes: { confidential: true } };
};

/**
 * Commands that make a noteable confidential. A user who may open one may open it confidential at once. Source:
 * reference work-tracking 2.6, 9.1.
 */
export const CONFIDENTIAL_ACTIONS = {
  confidential: makeNoteableConfidential,
  make_confidential: makeNoteableConfidential,
} as const;

/** Commands that change issues and epics. Source: reference work-tracking 2.6. */
export const COMMON_ACTIONS = {
  close: createCloseOrReopenAction('close', 'Closed', 'it is closed already'),
  reopen: createCloseOrReopenAction('reopen', 'Reopened', 'it is open already'),
  title: ({ update }, argument) => {
    let title: string;
    try {
      ({ title } = checkTitleAndDescription({ title: argument }));
    } catch (error) {
      return { why: `the title ${describeQuickActionRefusal(error)}` };
    }
    update.title = title;
    return { said: `Changed the title to "${title}".`, changes: { title } };
  },
} as const satisfies Record<string, CommonAction>;

/** Checks whether the text of a new noteable makes it confidential. */
export function hasConfidentialCommand(commands: readonly { readonly name: string }[]): boolean {
  return commands.some(({ name }) => Object.hasOwn(CONFIDENTIAL_ACTIONS, name));
}
