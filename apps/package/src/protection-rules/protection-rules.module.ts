import { Module } from '@nestjs/common';
import { declareAttachedTable, Attaches, Owns } from '@rookery/persistence';
import { ProtectionRule } from './protection-rule.entity';
import { ProtectionRulesController } from './protection-rules.controller';
import { PackageProtections } from './protections';

const attachedRules = declareAttachedTable({ table: 'protection_rules', project: 'project_id' });

/** Rules of projects for pushing and deleting packages, by name. */
@Owns(ProtectionRule)
@Attaches(attachedRules)
@Module({ controllers: [ProtectionRulesController], providers: [PackageProtections], exports: [PackageProtections] })
export class ProtectionRulesModule {}
