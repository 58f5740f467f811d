import { InvalidParameters } from '@rookery/kernel';
import type { EndpointRecord } from './endpoint';
import { CREDENTIAL_NAMES, KEYSET_NAMES, PAGE_NAMES } from '../params/paging';
import type { ParamsPlan, ParamSources } from './params-plan';

/** Units: names in one header. */
const NAMES_TOLD = 32;
/** A name that every header and log may carry. Others are the sender's text and are told as `*`. */
const PLAIN_NAME = /^[\w.[\]-]{1,64}$/;

/**
 * What a request sent that its endpoint does not read, for authors of clients: clients send what they like, so nothing is
 * refused for it, but what had no effect should be seen. Source: reference identity-and-import 1.2.
 */
export class UnreadParams {
  /** What the gateway and the pages of lists read. */
  private readonly besides: ReadonlySet<string>;

  constructor(
    private readonly plan: ParamsPlan<object>,
    answers: EndpointRecord['options']['answers'],
    private readonly isStrict: boolean,
  ) {
    const paging = answers.kind !== 'page' ? [] : answers.keyset === undefined ? PAGE_NAMES : KEYSET_NAMES;
    this.besides = new Set(['sudo', ...CREDENTIAL_NAMES, ...paging]);
  }

  /** Shape: names, nested ones as `not[name]`, each once. Errors: InvalidParameters where an estate is strict. */
  in(sources: ParamSources): readonly string[] {
    const unread = this.plan.unread(sources, this.besides, NAMES_TOLD);
    if (unread.length === 0) return unread;
    const names = [...new Set(unread.map(toldAs))];
    if (this.isStrict) throw new InvalidParameters(names.map((name) => `${name} is not read here`));
    return names;
  }
}

const toldAs = (name: string): string => (PLAIN_NAME.test(name) ? name : '*');
