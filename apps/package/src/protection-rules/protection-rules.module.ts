import { Module } from '@nestjs/common';
import { attachedTo, Attaches, Owns } from '@rookery/persistence';
import { ProtectionRule } from './protection-rule.entity';
import { ProtectionRulesController } from './protection-rules.controller';
import { Protections } from './protections';

const attachedRules = attachedTo({ table: 'protection_rules', project: 'project_id' });

/** Rules of projects for pushing and deleting packages, by name. */
@Owns(ProtectionRule)
@Attaches(attachedRules)
@Module({ controllers: [ProtectionRulesController], providers: [Protections], exports: [Protections] })
export class ProtectionRulesModule {}
