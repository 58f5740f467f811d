import { Controller } from '@nestjs/common';
import type { Call, GroupScope, ProjectScope } from '@rookery/api-v4';
import { administrator, all, Endpoint, none, one, source } from '@rookery/api-v4';
import { customAttribute } from './custom-attribute.presenter';
import type { AttributedKind } from './custom-attributes-sql';
import {
  AttributeParams,
  OfUserParams,
  UserAttributeParams,
  WriteAttributeParams,
  WriteUserAttributeParams,
} from './custom-attributes.dto';
import type { CustomAttribute } from './custom-attributes.service';
import { CustomAttributes } from './custom-attributes.service';

const SOURCE = 'reference identity-and-import 2.9';
type Scope = ProjectScope | GroupScope;
/** A user is named by a parameter, a group or project is the parent. */
type Owned<P> = Call<P & { readonly id?: number }, Scope | undefined>;

const ownerId = ({ within, params }: Owned<object>): number => within?.id ?? params.id!;

/** The same routes below users, groups and projects. */
function customAttributesOf(kind: AttributedKind) {
  const base = `/${kind}s/:id/custom_attributes`;
  const isUser = kind === 'user';
  const common = { source: SOURCE, may: administrator(), ...(isUser ? {} : { within: source(kind) }) } as const;
  const readable = isUser ? { tokenScopes: ['read_user'] } : {};
  const named = { ...common, params: isUser ? UserAttributeParams : AttributeParams, fails: [404] };

  @Controller()
  class CustomAttributesController {
    constructor(readonly attributes: CustomAttributes) {}

    @Endpoint('GET', base, {
      ...common,
      ...readable,
      about: `All custom attributes of a ${kind}.`,
      ...(isUser ? { params: OfUserParams, fails: [404] } : {}),
      answers: all(customAttribute),
    })
    list(call: Owned<object>): Promise<CustomAttribute[]> {
      return this.attributes.all(kind, ownerId(call));
    }

    @Endpoint('GET', `${base}/:key`, {
      ...named,
      ...readable,
      about: `One custom attribute of a ${kind}.`,
      answers: one(customAttribute),
    })
    show(call: Owned<AttributeParams>): Promise<CustomAttribute> {
      return this.attributes.one(kind, ownerId(call), call.params.key);
    }

    @Endpoint('PUT', `${base}/:key`, {
      ...named,
      about: `Adds or replaces a custom attribute of a ${kind}.`,
      params: isUser ? WriteUserAttributeParams : WriteAttributeParams,
      answers: one(customAttribute),
    })
    set(call: Owned<WriteAttributeParams>): Promise<CustomAttribute> {
      const { key, value } = call.params;
      return this.attributes.set(kind, ownerId(call), { key, value });
    }

    @Endpoint('DELETE', `${base}/:key`, {
      ...named,
      about: `Removes a custom attribute of a ${kind}.`,
      answers: none(),
    })
    async remove(call: Owned<AttributeParams>): Promise<void> {
      await this.attributes.remove(kind, ownerId(call), call.params.key);
    }
  }
  return CustomAttributesController;
}

export const UserCustomAttributesController = customAttributesOf('user');
export const GroupCustomAttributesController = customAttributesOf('group');
export const ProjectCustomAttributesController = customAttributesOf('project');
