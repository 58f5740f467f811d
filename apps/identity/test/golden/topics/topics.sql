-- topics-0928de5caa81
select
  row.id as "id",
  row.organization_id as "organizationId",
  row.name as "name",
  row.title as "title",
  row.description as "description",
  row.avatar_url as "avatarUrl",
  row.total_projects_count as "totalProjectsCount",
  row.open_projects_count as "openProjectsCount",
  row.created_at as "createdAt",
  row.updated_at as "updatedAt"
from
  topics row
order by
  row.open_projects_count desc,
  row.id asc
limit
  21
