# Registers ecs-task.json. Untried.
locals { task = jsondecode(file("${path.module}/ecs-task.json")) }

resource "aws_ecs_task_definition" "shop" {
  family                   = local.task.family
  requires_compatibilities = local.task.requiresCompatibilities
  network_mode             = local.task.networkMode
  cpu                      = local.task.cpu
  memory                   = local.task.memory
  container_definitions    = jsonencode(local.task.containerDefinitions)
  execution_role_arn       = var.execution_role_arn

  runtime_platform {
    cpu_architecture        = local.task.runtimePlatform.cpuArchitecture
    operating_system_family = local.task.runtimePlatform.operatingSystemFamily
  }

  volume { name = "assay-keys" }
}

variable "execution_role_arn" {
  description = "The role by which ECS pulls images and writes logs."
  type        = string
}
