import { Controller, Inject } from '@nestjs/common';
import type { Call, NoParams, ProjectScope } from '@rookery/api-v4';
import { unpagedList, actorAndParent, created, Endpoint, noContent, one, project } from '@rookery/api-v4';
import type { EventDefinition } from '@rookery/contracts';
import { protectionRuleCreated, protectionRuleDeleted, protectionRuleUpdated } from '@rookery/contracts';
import { InstanceSettings } from '@rookery/instance';
import type { Clock } from '@rookery/kernel';
import { CLOCK, Unprocessable } from '@rookery/kernel';
import type { Collection } from '@rookery/persistence';
import { defineCollection, Work } from '@rookery/persistence';
import type { ProtectionRuleInput } from './protection-rule.entity';
import { ProtectionRule } from './protection-rule.entity';
import { protectionRulePresenter } from './protection-rule.presenter';
import { CreateProtectionRule, IdentifyProtectionRule, UpdateProtectionRule } from './protection-rules.dto';
import { whilePackagesAreOn } from './while-packages-are-on.permission';

const SOURCE = 'requirements 3 §4 Package protection rules';
const MAY = whilePackagesAreOn('maintainer');

const ruleEventBuilder =
  (event: EventDefinition & Pick<typeof protectionRuleCreated, 'of'>) =>
  (rule: ProtectionRule, actorId: number | null) =>
    event.of({
      aggregateId: rule.id,
      actorId,
      data: { rule_id: rule.id, project_id: rule.projectId, package_type: rule.packageType },
    });

const protectionRules = defineCollection(ProtectionRule, {
  within: 'projectId',
  order: { id: 'ASC' },
  created: ruleEventBuilder(protectionRuleCreated),
  changed: ruleEventBuilder(protectionRuleUpdated),
  removed: ruleEventBuilder(protectionRuleDeleted),
  taken: {
    uq_protection_rules_pattern: () => new Unprocessable({ error: ['Package name pattern has already been taken'] }),
  },
});

@Controller()
export class ProtectionRulesController {
  private readonly rules: Collection<ProtectionRule>;

  constructor(
    work: Work,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly instance: InstanceSettings,
  ) {
    this.rules = protectionRules.on(work);
  }

  @Endpoint('GET', '/projects/:id/packages/protection/rules', {
    about: 'Lists all package protection rules of a project.',
    source: SOURCE,
    within: project(),
    may: MAY,
    answers: unpagedList(protectionRulePresenter),
  })
  list(call: Call<NoParams, ProjectScope>): Promise<readonly ProtectionRule[]> {
    return this.rules.listAll({ within: call.within });
  }

  @Endpoint('POST', '/projects/:id/packages/protection/rules', {
    about: 'Creates a rule that protects the packages whose name matches a pattern.',
    source: SOURCE,
    within: project(),
    may: MAY,
    params: CreateProtectionRule,
    answers: created(protectionRulePresenter),
    fails: [422],
  })
  create(call: Call<CreateProtectionRule, ProjectScope>): Promise<ProtectionRule> {
    const rule = ProtectionRule.create(call.within.id, this.withoutDisabledFields(call), this.clock.now());
    return this.rules.create(rule, actorAndParent(call));
  }

  @Endpoint('PATCH', '/projects/:id/packages/protection/rules/:package_protection_rule_id', {
    about: 'Changes the attributes that are sent.',
    source: SOURCE,
    within: project(),
    may: MAY,
    params: UpdateProtectionRule,
    answers: one(protectionRulePresenter),
    fails: [404, 422],
  })
  update(call: Call<UpdateProtectionRule, ProjectScope>): Promise<ProtectionRule> {
    const change = (rule: ProtectionRule) => rule.change(this.withoutDisabledFields(call), this.clock.now());
    return this.rules.change(call.params.package_protection_rule_id, change, actorAndParent(call));
  }

  @Endpoint('DELETE', '/projects/:id/packages/protection/rules/:package_protection_rule_id', {
    about: 'Deletes a package protection rule.',
    source: SOURCE,
    within: project(),
    may: MAY,
    params: IdentifyProtectionRule,
    answers: noContent(),
    fails: [404],
  })
  async remove(call: Call<IdentifyProtectionRule, ProjectScope>): Promise<void> {
    await this.rules.remove(call.params.package_protection_rule_id, actorAndParent(call));
  }

  /** Removes the delete level from the input while its feature is off, so that it is neither stored nor changed. */
  private withoutDisabledFields(call: Call<ProtectionRuleInput, ProjectScope>): ProtectionRuleInput {
    const { minimum_access_level_for_delete: level, ...rest } = call.params;
    const asked = { viewer: call.viewer, projectId: call.within.id };
    return level !== undefined && this.instance.isOn('packages_protected_packages_delete', asked)
      ? { ...rest, minimum_access_level_for_delete: level }
      : rest;
  }
}
