"""The stand-in for the official base image of the Sandbox SDK, for machines that cannot fetch that one.

An OCI image layout with a tag for each variant, made from the distribution's packages, Node and Python wheels and the
server in `server/`. It is the same bytes for the same materials, wants neither root nor a container engine to be made,
and says in labels and files that it is a stand-in. `tools/setup/base_image.py` fetches the materials.
"""
