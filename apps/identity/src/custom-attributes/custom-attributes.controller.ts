import { Controller } from '@nestjs/common';
import type { Call, GroupScope, ProjectScope } from '@rookery/api-v4';
import { administrator, unpagedList, Endpoint, noContent, one, presenter, projectOrGroup, text } from '@rookery/api-v4';
import type { AttributedKind } from './custom-attributes-sql';
import {
  IdentifyAttribute,
  ListUserAttributes,
  IdentifyUserAttribute,
  UpdateAttribute,
  UpdateUserAttribute,
} from './custom-attributes.dto';
import type { AttributeRow } from './custom-attributes.service';
import { CustomAttributesService } from './custom-attributes.service';

const SOURCE = 'reference identity-and-import 2.9';
const customAttribute = presenter<AttributeRow>('CustomAttribute').fields({
  key: [text, (attribute) => attribute.key],
  value: [text, (attribute) => attribute.value],
});
type ProjectOrGroupScope = ProjectScope | GroupScope;
/** A user is identified by a parameter; a group or project is the parent of the route. */
type OwnerCall<P> = Call<P & { readonly id?: number }, ProjectOrGroupScope | undefined>;

const findAttributeOwnerId = ({ within, params }: OwnerCall<object>): number => within?.id ?? params.id!;

/** Creates the controller with the routes of users, groups or projects. */
function createCustomAttributesController(kind: AttributedKind) {
  const base = `/${kind}s/:id/custom_attributes`;
  const isUser = kind === 'user';
  const common = { source: SOURCE, may: administrator(), ...(isUser ? {} : { within: projectOrGroup(kind) }) } as const;
  const readable = isUser ? { tokenScopes: ['read_user'] } : {};
  const named = { ...common, params: isUser ? IdentifyUserAttribute : IdentifyAttribute, fails: [404] };

  @Controller()
  class CustomAttributesController {
    constructor(readonly attributes: CustomAttributesService) {}

    @Endpoint('GET', base, {
      ...common,
      ...readable,
      about: `Lists the custom attributes of a ${kind}.`,
      ...(isUser ? { params: ListUserAttributes, fails: [404] } : {}),
      answers: unpagedList(customAttribute),
    })
    list(call: OwnerCall<object>): Promise<AttributeRow[]> {
      return this.attributes.listAttributes(kind, findAttributeOwnerId(call));
    }

    @Endpoint('GET', `${base}/:key`, {
      ...named,
      ...readable,
      about: `Returns a custom attribute of a ${kind}.`,
      answers: one(customAttribute),
    })
    show(call: OwnerCall<IdentifyAttribute>): Promise<AttributeRow> {
      return this.attributes.findAttribute(kind, findAttributeOwnerId(call), call.params.key);
    }

    @Endpoint('PUT', `${base}/:key`, {
      ...named,
      about: `Adds or replaces a custom attribute of a ${kind}.`,
      params: isUser ? UpdateUserAttribute : UpdateAttribute,
      answers: one(customAttribute),
    })
    set(call: OwnerCall<UpdateAttribute>): Promise<AttributeRow> {
      const { key, value } = call.params;
      return this.attributes.setAttribute(kind, findAttributeOwnerId(call), { key, value });
    }

    @Endpoint('DELETE', `${base}/:key`, {
      ...named,
      about: `Deletes a custom attribute of a ${kind}.`,
      answers: noContent(),
    })
    async remove(call: OwnerCall<IdentifyAttribute>): Promise<void> {
      await this.attributes.remove(kind, findAttributeOwnerId(call), call.params.key);
    }
  }
  return CustomAttributesController;
}

export const UserCustomAttributesController = createCustomAttributesController('user');
export const GroupCustomAttributesController = createCustomAttributesController('group');
export const ProjectCustomAttributesController = createCustomAttributesController('project');
