import type { Viewer } from '@rookery/kernel';
import { InvalidParameters } from '@rookery/kernel';
import type { EndpointRecord } from './endpoint';
import { CREDENTIAL_NAMES, KEYSET_NAMES, PAGE_NAMES } from '../params/paging';
import type { ParamsPlan, ParamSources } from './params-plan';

/** Units: names in one header. */
const MAX_NAMES = 32;
/** Names that are safe in a header and in a log. Others are text of the sender and are shown as `*`. */
const PLAIN_NAME = /^[\w.[\]-]{1,64}$/;

/**
 * Finds parameters that an endpoint does not read, for authors of clients. Such parameters are not refused unless the
 * estate is strict, but authors should see that they had no effect. Source: reference identity-and-import 1.2.
 */
export class UnreadParams {
  /** Names that the gateway or the paging of lists reads. */
  private readonly readElsewhere: ReadonlySet<string>;

  constructor(
    private readonly plan: ParamsPlan<object>,
    answers: EndpointRecord['options']['answers'],
    private readonly isStrict: boolean,
  ) {
    const paging = answers.kind !== 'page' ? [] : answers.keyset === undefined ? PAGE_NAMES : KEYSET_NAMES;
    this.readElsewhere = new Set(['sudo', ...CREDENTIAL_NAMES, ...paging]);
  }

  /**
   * Returns the names without an effect for the viewer, each once: unread ones, then read ones. Nested names have the
   * form `not[name]`. Errors: InvalidParameters with the unread ones in a strict estate.
   */
  listUnread(sources: ParamSources, viewer: Pick<Viewer, 'isAdmin'>): readonly string[] {
    const withoutEffect = this.plan.withoutEffect(sources, viewer);
    const unread = this.plan.listUnread(sources, this.readElsewhere, MAX_NAMES);
    if (unread.length === 0) return withoutEffect;
    const names = [...new Set(unread.map(maskUnusualParamName))];
    if (this.isStrict) throw new InvalidParameters(names.map((name) => `${name} is not read here`));
    return [...names, ...withoutEffect];
  }
}

const maskUnusualParamName = (name: string): string => (PLAIN_NAME.test(name) ? name : '*');
