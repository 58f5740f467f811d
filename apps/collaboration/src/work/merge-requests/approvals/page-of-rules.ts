import { offsetOf, pageOf } from '@rookery/kernel';
import type { Page, PageRequest } from '@rookery/kernel';
import type { ApprovalRuleView } from './approval-rules.queries';

/** Cuts a page out of the rules of one place, of which there are few. */
export function pageOfRules(request: PageRequest, rules: readonly ApprovalRuleView[]): Page<ApprovalRuleView> {
  const from = offsetOf(request);
  return pageOf(request, rules.slice(from, from + request.perPage + 1), rules.length);
}
