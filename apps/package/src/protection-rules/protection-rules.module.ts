import { Module } from '@nestjs/common';
import { attachedTo, Attaches, Owns } from '@rookery/persistence';
import { ProtectionRule } from './protection-rule.entity';
import { ProtectionRulesController } from './protection-rules.controller';

export const attachedRules = attachedTo({ table: 'protection_rules', project: 'project_id' });

/** Who may push or delete packages of which names, project by project. */
@Owns(ProtectionRule)
@Attaches(attachedRules)
@Module({ controllers: [ProtectionRulesController] })
export class ProtectionRulesModule {}
